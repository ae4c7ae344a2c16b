import type { CampaignReport } from '../../core/report/report.ts'
import { grouped, PRINTED, scaleOf } from '../numbers.ts'
import { bySeverity, missing } from '../sentences.ts'
import { candidates, power } from './candidates.ts'
import { capacity } from './capacity.ts'
import { coverage } from './coverage.ts'
import { failures } from './failures.ts'
import { guardrails } from './guardrails.ts'
import { integrity } from './integrity.ts'
import { judges } from './judges.ts'
import { method } from './method.ts'
import { slices } from './slices.ts'
import { spread } from './spread.ts'
import { tests } from './tests.ts'
import { variants } from './variants.ts'
import { actions, verdict } from './verdict.ts'
import { lost, moved, type OutputOf, worst } from './worst.ts'

export const SECTIONS = [
  'verdict',
  'candidates',
  'power',
  'tests',
  'guardrails',
  'next',
  'variants',
  'spread',
  'judges',
  'worst scenarios',
  'slices',
  'coverage',
  'capacity',
  'failures',
  'integrity',
  'method',
] as const
export type SectionName = (typeof SECTIONS)[number]

export interface Section {
  readonly name: SectionName
  /** Empty: the body stands for itself. */
  readonly title: string
  /** The variant it is about. */
  readonly of?: string
  /** What a folded section holds, in words: text, not Markdown. */
  readonly gist?: string
  /** Markdown. */
  readonly body: string
}

export interface SectionOptions {
  /** Rows of a list before the rest is counted. */
  readonly rows: number
  /** Stands before the verdict's word. */
  readonly sign?: string
  readonly outputOf?: OutputOf
}

/** The report in sections that have something to say: verdict first, then what it rests on. */
export function sectionsOf(report: CampaignReport, { rows, sign, outputOf }: SectionOptions): Section[] {
  const scale = scaleOf(report.design.scale, PRINTED)
  const gone = missing(report.coverage.counts)
  const all: Section[] = [
    { name: 'verdict', title: '', body: verdict(report, rows, sign) },
    { name: 'candidates', title: '', body: candidates(report, scale) },
    { name: 'power', title: '', body: power(report, scale) },
    { name: 'tests', title: '', body: tests(report, scale) },
    { name: 'guardrails', title: 'Guardrails', body: guardrails(report) },
    { name: 'next', title: 'Next', body: actions(report) },
    { name: 'variants', title: 'Variants', body: variants(report, scale) },
    { name: 'spread', title: 'Spread', body: spread(report, scale) },
    { name: 'judges', title: 'Judges', body: judges(report, scale) },
    ...bySeverity(report.candidates).map((candidate): Section => {
      const broken = candidate.mustPass.broken.length
      const gist = [
        broken === 0 ? '' : `${broken} must-pass broken`,
        lost(candidate).length === 0 ? '' : moved(candidate),
      ]
      return {
        name: 'worst scenarios',
        title: 'Worst scenarios',
        of: candidate.id,
        gist: gist.filter((part) => part !== '').join(', '),
        body: worst(report, candidate, scale, rows, outputOf),
      }
    }),
    { name: 'slices', title: 'Slices', gist: 'exploratory', body: slices(report, scale, rows) },
    {
      name: 'coverage',
      title: 'Coverage',
      gist: `${gone === 0 ? 'none' : grouped(String(gone))} of ${grouped(String(report.coverage.planned))} cells missing`,
      body: coverage(report),
    },
    { name: 'capacity', title: 'Capacity', body: capacity(report) },
    {
      name: 'failures',
      title: 'Failures',
      gist: `${report.failures.length} ${report.failures.length === 1 ? 'class' : 'classes'}`,
      body: failures(report, rows),
    },
    { name: 'integrity', title: 'Integrity', body: integrity(report, rows) },
    { name: 'method', title: 'Method', body: method(report, scale) },
  ]
  return all.filter(({ body }) => body !== '')
}
