import { defineConfig } from 'vitest/config'
import { evals } from 'vitest-campaign/plugin'

export default defineConfig({ test: { projects: [evals()] } })
