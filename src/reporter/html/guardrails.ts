import { PRINTED } from '../numbers.ts'
import { bySeverity, clockWord, guardrailWords } from '../sentences.ts'
import { type Html, html } from './markup.ts'
import type { Model } from './model.ts'
import { label, section, sentence, table } from './text.ts'

const SIGNS = { ok: ['✓', 'good'], violated: ['✗', 'bad'], unproven: ['?', 'open'] } as const

/** Every limit beside the primary score, and must-pass scenarios. */
export function guardrails({ report }: Model): Html | null {
  const rows = bySeverity(report.candidates).flatMap(({ id, guardrails: rails, mustPass }) => [
    ...rails.map((rail) => {
      const words = guardrailWords(rail, PRINTED)
      const [icon, tone] = SIGNS[rail.outcome]
      return [
        html`${label(rail.name)}${clockWord(rail)}`,
        label(id),
        words.comparator,
        words.candidate,
        words.limit,
        html`<span class="t-${tone}">${icon}</span> ${sentence(words.status)}`,
        rail.require === 'shown' ? 'shown to hold' : 'not shown broken',
      ]
    }),
    ...(mustPass.scenarios === 0
      ? []
      : [
          [
            `must-pass (${mustPass.scenarios})`,
            label(id),
            '',
            `${mustPass.scenarios - mustPass.broken.length}/${mustPass.scenarios}`,
            'all',
            mustPass.broken.length === 0
              ? html`<span class="t-good">✓</span> ok`
              : html`<span class="t-bad">✗</span> broken: ${mustPass.broken
                  .slice(0, 20)
                  .map(({ scenario, failedSeeds }) => `${label(scenario, 60)} (seeds ${failedSeeds.join(', ')})`)
                  .join('; ')}`,
            'every seed',
          ],
        ]),
  ])
  if (rows.length === 0) return null
  return section(
    'guardrails',
    'Guardrails',
    table(
      'Guardrails',
      [
        { title: 'guardrail', heads: true },
        { title: 'candidate' },
        { title: 'comparator', align: 'right' },
        { title: 'candidate', align: 'right' },
        { title: 'limit', align: 'right' },
        { title: 'shown' },
        { title: 'needed' },
      ],
      rows,
    ),
  )
}
