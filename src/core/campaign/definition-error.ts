/** Where the evalCampaign() call stands. */
export interface DefinitionSite {
  /** Eval file, relative to the project root, with `/`. */
  readonly file: string
  /** Line of the evalCampaign() call; null when the stack did not show it. */
  readonly line: number | null
}

/** A campaign that cannot be planned: names the campaign, its place, the option at fault and what to do. */
export class CampaignDefinitionError extends Error {
  override readonly name = 'CampaignDefinitionError'
  readonly campaignId: string
  /** Path inside the definition, for instance `scenarios.refund.due`; empty for the campaign itself. */
  readonly path: string
  readonly site: DefinitionSite
  constructor(campaignId: string, site: DefinitionSite, path: string, problem: string, options?: ErrorOptions) {
    const place = site.line === null ? site.file : `${site.file}:${site.line}`
    super(`campaign ${JSON.stringify(campaignId)} (${place}): ${path === '' ? '' : `${path} `}${problem}`, options)
    this.campaignId = campaignId
    this.path = path
    this.site = site
  }
}

/** Raises the error for one path of one campaign; `problem` continues the path as a sentence. */
export type Refuse = (path: string, problem: string, options?: ErrorOptions) => never

export function refuser(campaignId: string, site: DefinitionSite): Refuse {
  return (path, problem, options) => {
    throw new CampaignDefinitionError(campaignId, site, path, problem, options)
  }
}
