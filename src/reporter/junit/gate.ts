import type { CandidateReport } from '../../core/report/candidate-report.ts'
import type { CampaignReport } from '../../core/report/report.ts'
import { PRINTED } from '../numbers.ts'
import { furtherReasons, guardrailWords } from '../sentences.ts'
import type { Case, Suite } from './case.ts'

/** The suite of a campaign's decision: its verdict, then each candidate by what it was judged on. */
export function gateSuite(report: CampaignReport): Suite {
  const classname = `${report.campaignId}.gate`
  return {
    name: 'gate',
    file: report.file,
    cases: [verdict(report), ...report.candidates.flatMap((candidate) => endpoints(report, candidate))].map((one) => ({
      classname,
      ...one,
    })),
  }
}

type Unnamed = Omit<Case, 'classname'>

/** Red where the run is red, passed where the gate says something, skipped where nothing is shown. */
function verdict(report: CampaignReport): Unnamed {
  const { word, outcome, red, headline, gate } = report.verdict
  const name = gate === 'none' ? 'coverage' : 'verdict'
  const output = furtherReasons(report).join('\n')
  if (red) return { name, outcome: outcome === 'invalid' ? 'error' : 'failure', message: headline, output }
  // Without a gate enough cells measured is all that was asked for.
  if (word === 'PASS' || gate === 'none')
    return { name, outcome: 'passed', output: [headline, output].join('\n').trim() }
  return { name, outcome: 'skipped', message: headline, output }
}

function endpoints({ design }: CampaignReport, candidate: CandidateReport): Unnamed[] {
  const { id, mustPass, guardrails } = candidate
  return [
    { name: `${id}: ${design.primary}`, ...primary(candidate) },
    ...(mustPass.scenarios === 0 ? [] : [{ name: `${id}: must-pass`, ...unbroken(mustPass) }]),
    ...guardrails.map((rail): Unnamed => {
      const name = `${id}: guardrail ${rail.name}`
      const { comparator, candidate: value, limit, status } = guardrailWords(rail, PRINTED)
      const said = `${status}: ${comparator} → ${value}, limit ${limit}`
      if (rail.outcome === 'ok') return { name, outcome: 'passed', output: said }
      return { name, outcome: rail.outcome === 'violated' ? 'failure' : 'skipped', message: said }
    }),
  ]
}

/** Rows of the verdict table that are about something else than the primary score. */
const ELSEWHERE: ReadonlySet<string> = new Set(['2', '4'])

function primary({ outcome, rule, reasons }: CandidateReport): Omit<Unnamed, 'name'> {
  const said = reasons.map(({ text }) => text).join('\n') || outcome
  switch (outcome) {
    case 'invalid':
      return { outcome: 'error', message: said }
    case 'regress':
      // What broke has a case of its own; about the primary score nothing was shown.
      return ELSEWHERE.has(rule) ? { outcome: 'skipped', message: said } : { outcome: 'failure', message: said }
    case 'inconclusive':
    case 'underpowered':
      return { outcome: 'skipped', message: `${outcome}: ${said}` }
    case 'hold':
    case 'ship':
      return { outcome: 'passed', output: `${outcome}: ${said}` }
  }
}

function unbroken({ scenarios, broken }: CandidateReport['mustPass']): Omit<Unnamed, 'name'> {
  if (broken.length === 0) return { outcome: 'passed', output: `${scenarios} of ${scenarios} pass` }
  const list = broken.map(({ scenario, failedSeeds }) => `${scenario} (seeds ${failedSeeds.join(', ')})`)
  return { outcome: 'failure', message: `${broken.length} of ${scenarios} broken: ${list.join(', ')}` }
}
