/** What the tables themselves promise: unique keys, append-only facts, businesses kept apart. */
const FACTS = 'db/migrations/0000_facts.sql';
const ROLES = 'db/migrations/0001_roles.sql';

export const TABLES = [
  {
    name: 'the unique key of receipts is dropped',
    file: FACTS,
    find: ',\n\tCONSTRAINT "webhook_receipts_key" UNIQUE("provider","account_external_id","key_sha256")',
    replace: '',
    tier: 'db',
    tests: ['test/db/webhooks/repeats'],
  },
  {
    name: 'the key of a logical send is no longer unique',
    file: FACTS,
    find: 'CONSTRAINT "outbox_idempotency_key_unique" UNIQUE("idempotency_key"),\n\t',
    replace: '',
    tier: 'db',
    tests: ['test/db/races/unique-keys'],
  },
  {
    name: 'a logical send may be alive twice',
    file: FACTS,
    find: 'CREATE UNIQUE INDEX "outbox_one_live_send"',
    replace: 'CREATE INDEX "outbox_one_live_send"',
    tier: 'db',
    tests: ['test/db/races/unique-keys'],
    short: true,
  },
  {
    name: 'one conversation per lead and account is no longer a constraint',
    file: FACTS,
    find: '\tCONSTRAINT "conversations_home" UNIQUE("account_id","lead_id"),\n',
    replace: '',
    tier: 'db',
    tests: ['test/db/ingest/one-home'],
    title: 'who comes again with the number is the same lead',
  },
  {
    name: 'one open handoff per conversation is no longer a constraint',
    file: FACTS,
    find: 'CREATE UNIQUE INDEX "work_items_one_open_handoff"',
    replace: 'CREATE INDEX "work_items_one_open_handoff"',
    tier: 'db',
    tests: ['test/db/races/handover'],
  },
  {
    name: 'the sent markers are no longer append-only',
    file: ROLES,
    find: "'send_outcomes', 'sent_markers', 'takeover_events'] LOOP",
    replace: "'send_outcomes', 'takeover_events'] LOOP",
    tier: 'db',
    tests: ['test/db/roles/append-only'],
  },
  {
    name: 'row-level security of messages is left out',
    file: ROLES,
    find: "'conversations', 'messages', 'follow_up_plans', 'outbox', 'work_items',\n    'conv",
    replace: "'conversations', 'follow_up_plans', 'outbox', 'work_items',\n    'conv",
    tier: 'db',
    tests: ['test/db/roles/apart'],
  },
  {
    name: 'the policy of row-level security lets every business pass',
    file: ROLES,
    find: "USING (%I = current_setting(''unsilent.business_id'', true))",
    replace: 'USING (%I IS NOT NULL)',
    tier: 'db',
    tests: ['test/db/roles/apart'],
  },
  {
    name: 'the staff role may rewrite the takeover log',
    file: 'db/migrations/0006_takeover_log.sql',
    find: 'GRANT SELECT, INSERT ON "takeover_events" TO unsilent_service, unsilent_staff;',
    replace:
      'GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON "takeover_events" TO unsilent_service, unsilent_staff;',
    tier: 'db',
    tests: ['test/db/roles/append-only'],
  },
];
