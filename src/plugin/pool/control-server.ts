import type { MessagePort } from 'node:worker_threads'
import { type BirpcReturn, createBirpc } from 'birpc'
import { answerWorker } from '../cell-calls.ts'
import { type BatchedChannel, batchedChannel } from '../channel.ts'
import type { MainFunctions, WorkerFunctions } from '../control.ts'
import type { Run } from './run.ts'

export interface ControlServer {
  readonly worker: Pick<BirpcReturn<WorkerFunctions, MainFunctions>, keyof WorkerFunctions>
  close(): void
}

/** Answers the control calls of one worker. */
export function serveControl(port: MessagePort, run: Run, workerId: number): ControlServer {
  const channel = batchedChannel(port)
  /** The worker's tickets and the permits, or judge leases, they stand for. */
  const permits = new Map<number, number>()
  const judges = new Map<number, number>()
  const main: MainFunctions = {
    plan: (plan) => run.plan(plan, workerId),
    admitted: (cellId, attempt, lane) => run.admitted(cellId, attempt, lane),
    async permit(ticket, cellId, ask) {
      const { permitId, reply } = run.admission.permit(cellId, ask)
      permits.set(ticket, permitId)
      const answer = await reply
      if (!answer.granted) permits.delete(ticket)
      return answer
    },
    permitDone(ticket, outcome) {
      const permitId = permits.get(ticket)
      permits.delete(ticket)
      if (permitId !== undefined) run.admission.permitDone(permitId, outcome)
    },
    async judge(ticket, cellId, lane) {
      const { judgeId, reply } = run.admission.judge(cellId, lane)
      judges.set(ticket, judgeId)
      const answer = await reply
      if (!answer.granted) judges.delete(ticket)
      return answer
    },
    judgeDone(ticket) {
      const judgeId = judges.get(ticket)
      judges.delete(ticket)
      if (judgeId !== undefined) run.admission.judgeDone(judgeId)
    },
    subjectSettled: (settled) => run.subjectSettled(settled),
    problem: (campaignId, code, text) => run.problem(campaignId, code, text),
    verdict: (campaignId) => run.verdict(campaignId),
  }
  answerWorker(channel, run)
  return serving(channel, main)
}

/** A worker's calls, answered by these functions. */
export function serving(channel: BatchedChannel, main: Partial<MainFunctions>): ControlServer {
  const worker = createBirpc<WorkerFunctions, typeof main>(main, {
    ...channel,
    eventNames: ['abort'],
    // A lease may rightly wait for hours; the death of a worker ends every wait, not a timer per message.
    timeout: -1,
  })
  return {
    worker,
    close() {
      worker.$close()
      channel.close()
    },
  }
}
