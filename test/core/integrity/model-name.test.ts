import { expect, test } from 'vitest'
import { isFloating, isSameModel, modelFamily } from '../../../src/core/integrity/model-name.ts'

test.each([
  ['gpt-5-mini', 'gpt-5-mini-2025-08-07'],
  ['gpt-4', 'gpt-4-0613'],
  ['gpt-3.5-turbo', 'gpt-3.5-turbo-0125'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
  ['claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
  ['claude-3-5-haiku-latest', 'claude-3-5-haiku-20241022'],
  ['models/gemini-2.5-flash', 'gemini-2.5-flash'],
  ['gemini-2.0-flash', 'gemini-2.0-flash-001'],
  ['publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5-20250929'],
  ['anthropic.claude-3-5-sonnet-20240620-v1:0', 'claude-3-5-sonnet-20240620'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929'],
  ['anthropic/claude-sonnet-4.5', 'anthropic/claude-4.5-sonnet-20250929'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'llama-3.3-70b-instruct'],
  ['deepseek/deepseek-chat:free', 'deepseek/deepseek-chat'],
])('%s and %s are one model', (requested, served) => {
  expect(isSameModel(requested, served)).toBe(true)
  expect(isSameModel(served, requested)).toBe(true)
})

test.each([
  ['gpt-5', 'gpt-5-mini'],
  ['gpt-5-mini', 'gpt-5-nano-2025-08-07'],
  ['gpt-4', 'gpt-4o'],
  ['gpt-4', 'gpt-4.1'],
  ['gpt-4o', 'gpt-4o-mini'],
  ['claude-sonnet-4-5', 'claude-sonnet-4-20250514'],
  ['claude-opus-4-1', 'claude-sonnet-4-1'],
  ['gemini-2.5-flash', 'gemini-2.5-flash-lite'],
  ['gemini-2.0-flash', 'gemini-2.5-flash'],
  ['llama-3.3-70b', 'llama-3.3-8b'],
])('%s and %s are two', (requested, served) => {
  expect(isSameModel(requested, served)).toBe(false)
})

test.each([
  ['gpt-5-chat-latest', true],
  ['claude-3-5-haiku-latest', true],
  ['gemini-flash-latest', true],
  ['llama3:latest', true],
  ['gemini-2.5-flash-preview', true],
  ['gemini-2.0-flash-exp', true],
  ['openrouter/auto', true],
  ['gpt-5-mini', false],
  ['gemini-2.5-flash-preview-09-2025', false],
  ['claude-sonnet-4-5-20250929', false],
  ['expert-model', false],
])('%s floats: %s', (name, floats) => {
  expect(isFloating(name)).toBe(floats)
})

test.each([
  ['gpt-5', 'o3-mini'],
  ['claude-sonnet-4-5', 'us.anthropic.claude-opus-4-1-v1:0'],
  ['gemini-2.5-pro', 'models/gemma-3-27b'],
  ['mistral-large', 'mixtral-8x7b'],
  ['meta-llama/Llama-3.3-70B', 'meta.llama3-1-8b-instruct-v1:0'],
])('%s and %s are of one family', (a, b) => {
  expect(modelFamily(a)).toBe(modelFamily(b))
})

test('families differ', () => {
  const names = [
    'gpt-5',
    'claude-sonnet-4-5',
    'gemini-2.5-pro',
    'llama-3.3-70b',
    'mistral-large',
    'deepseek-chat',
    'grok-4',
  ]
  expect(new Set(names.map(modelFamily)).size).toBe(names.length)
})
