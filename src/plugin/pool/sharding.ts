import type { TestProject, TestSpecification, Vitest } from 'vitest/node'
import { parseShard, type Shard } from '../../core/campaign/shard.ts'
import { evalsVariable } from '../env.ts'
import { plainError } from '../options.ts'

/**
 * The part of the cells that this run executes: `EVALS_SHARD`, else Vitest's `--shard`; null: all of them.
 *
 * @throws TypeError for an EVALS_SHARD that is none
 */
export function shardOf({ config }: Pick<Vitest, 'config'>, env: NodeJS.ProcessEnv): Shard | null {
  const text = evalsVariable('EVALS_SHARD', env) ?? ''
  const shard = text === '' ? (config.shard ?? null) : own(text)
  return shard === null || shard.count === 1 ? null : { index: shard.index, count: shard.count }
}

function own(text: string): Shard {
  try {
    return parseShard(text, 'EVALS_SHARD')
  } catch (error) {
    throw plainError((error as Error).message)
  }
}

const wrapped = new WeakSet<Vitest>()

/**
 * Vitest's `--shard` slices files. The eval files go to every shard, because their cells are what is divided; all other
 * files are divided as they were.
 */
export function keepEvalFiles(vitest: Vitest, isEvals: (project: TestProject) => boolean): void {
  const { config } = vitest
  if (config.shard === undefined || config.shard === null || wrapped.has(vitest)) return
  wrapped.add(vitest)
  // With fewer files than shards Vitest gives up before anybody is asked.
  config.passWithNoTests = true
  const Sequencer = config.sequence.sequencer
  config.sequence.sequencer = class extends Sequencer {
    constructor(context: Vitest) {
      super(context)
      // A user's sequencer may have it as a method or as a property.
      const divide = this.shard.bind(this)
      this.shard = async (files: TestSpecification[]) => {
        const evalFiles = files.filter(({ project }) => isEvals(project))
        const others = files.filter(({ project }) => !isEvals(project))
        return [...(others.length === 0 ? [] : await divide(others)), ...evalFiles]
      }
    }
  }
}
