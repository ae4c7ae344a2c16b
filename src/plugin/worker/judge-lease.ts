import type { StatusReason } from '../../core/record/status.ts'
import type { JudgeReply, MainFunctions } from '../control.ts'
import type { Deadline } from './deadline.ts'

/** Where scorers that call a provider ask for their turn. */
export interface JudgeLine {
  /** @param lane the one the scorer declares */
  ask(cellId: string, lane: string | null): AskedJudge
}

interface AskedJudge {
  readonly reply: Promise<JudgeReply>
  /** Gives the lease back, or withdraws an ask that waits. Call it once. */
  done(): void
}

/** The run did not let a scorer ask its judge. The cell's output is kept. */
export class NotJudgedError extends Error {
  override readonly name = 'NotJudgedError'
  readonly reason: StatusReason
  constructor(reason: StatusReason, detail: string | undefined) {
    super(`not judged: ${reason}${detail === undefined ? '' : `: ${detail}`}`)
    this.reason = reason
  }
}

export function judgeLine(control: Pick<MainFunctions, 'judge'> & { judgeDone(ticket: number): Promise<void> }) {
  let tickets = 0
  const line: JudgeLine = {
    ask(cellId, lane) {
      const ticket = tickets++
      return {
        reply: control.judge(ticket, cellId, lane),
        // A message that cannot be sent any more means the run is over; the main process accounts for it.
        done: () => void control.judgeDone(ticket).catch(() => {}),
      }
    },
  }
  return line
}

/**
 * Scores under a judge lease, which goes back when the score is there. The cell's deadline stands still in the line.
 *
 * @throws NotJudgedError when the run refuses
 */
export async function underLease<T>(
  line: JudgeLine,
  who: { readonly cellId: string; readonly lane: string | null; readonly deadline: Deadline },
  score: () => T | Promise<T>,
): Promise<T> {
  const { reply, done } = line.ask(who.cellId, who.lane)
  try {
    let answer: JudgeReply
    who.deadline.queue(true)
    try {
      answer = await who.deadline.bound(reply)
    } finally {
      who.deadline.queue(false)
    }
    if (!answer.granted) throw new NotJudgedError(answer.reason, answer.detail)
    return await score()
  } finally {
    done()
  }
}
