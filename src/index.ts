export type {
  CampaignDefinition,
  CheckCode,
  GateOptions,
  IntegrityOptions,
  Json,
  RunContext,
  ScenarioOptions,
  ScoreContext,
  ScoreFunction,
  Scorer,
  ScorerObject,
  ScoreValue,
  Source,
  Split,
  VariantOptions,
} from './core/campaign/definition.ts'
export type { FailureClass } from './core/record/failure.ts'
export type { RunRecord } from './core/record/record.ts'
export { type EvalCampaign, evalCampaign } from './plugin/worker/eval-campaign.ts'
