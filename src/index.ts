export { type AcceptedComparator, accepted } from './core/campaign/accepted.ts'
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
export { defineHypothesis, type Hypothesis } from './core/prereg/hypothesis.ts'
export type { AgentProfileInput } from './core/record/agent-profile.ts'
export type { FailureClass } from './core/record/failure.ts'
export type { RunRecord } from './core/record/record.ts'
export { exactMatch } from './core/scorers/exact-match.ts'
export { includes } from './core/scorers/includes.ts'
export { jsonMatch } from './core/scorers/json-match.ts'
export { type JudgeCall, type JudgeOptions, judge } from './core/scorers/judge.ts'
export { matches } from './core/scorers/matches.ts'
export { numeric } from './core/scorers/numeric.ts'
export { replayHandlers } from './plugin/replay/handlers.ts'
export type { RecordingSource } from './plugin/replay/player.ts'
export { createReplayFetch } from './plugin/replay/replay-fetch.ts'
export { bind } from './plugin/worker/bind.ts'
export { type CommandContext, type CommandOptions, command } from './plugin/worker/command/command.ts'
export { type EvalCampaign, evalCampaign } from './plugin/worker/eval-campaign.ts'
