import type { Clock } from '../../db/clock';
import { storePolicy } from '../../db/policies';
import { DEMO_BUSINESS } from '../../dev/demo';
import { DEFAULT_RULES, type PolicyRules } from '../../domain/policy-rules';
import type { TestDatabase } from './database';

/** Nothing is ever closed or quiet. */
export const ALWAYS_OPEN: PolicyRules = { ...DEFAULT_RULES, quietHours: null };

/** What of a world is needed to store rules. */
interface RulesStore {
  readonly database: Pick<TestDatabase, 'service'>;
  readonly dependencies: { readonly clock: Clock };
}

let stored = 0;

/**
 * Stores rules for the demo business, from now on the newest; `reset` removes versions that begin
 * with `test-`. Returns the version.
 */
export async function storeRules(
  world: RulesStore,
  rules: PolicyRules,
  version = `test-${(stored += 1)}`,
): Promise<string> {
  const result = await storePolicy(
    world.database.service,
    { businessId: DEMO_BUSINESS.id, version, channel: null, accountId: null, rules },
    await world.dependencies.clock.now(),
  );
  if (result.kind !== 'stored') throw new Error(`the rules were not stored: ${result.kind}`);
  return version;
}
