/** What comes in: authenticity, the commit before the answer, debts, opt-outs, replies. */
const EFFECTS = 'db/ingest/effects.ts';

export const INTAKE = [
  {
    name: 'the webhook is answered before the commit',
    file: 'api/webhooks/router.ts',
    find: '      const result = await receive(dependencies, arrival);\n',
    replace:
      '      response.type(endpoint.success.contentType).send(endpoint.success.body);\n      const result = await receive(dependencies, arrival);\n      if (response.headersSent) return;\n',
    tier: 'db',
    tests: ['test/db/webhooks/commit'],
    title: 'never comes where Postgres refuses with',
  },
  {
    name: 'a forged webhook is believed',
    file: 'api/webhooks/router.ts',
    find: 'if (!endpoint.verify(raw)) {',
    replace: 'if (!endpoint.verify(raw) && raw.body.length < 0) {',
    tier: 'db',
    tests: ['test/db/webhooks/answers'],
  },
  {
    name: 'two messages may get the same token',
    file: EFFECTS,
    find: "owed_since = greatest($2::timestamptz, c.last_token + interval '1 microsecond'),",
    replace: 'owed_since = greatest($2::timestamptz, c.last_token),',
    tier: 'db',
    tests: ['test/db/races/burst'],
  },
  {
    name: 'the opening burst counts as a reply',
    file: EFFECTS,
    find: 'if (conversation.contactStartedAt === null) return conversation;',
    replace: '',
    tier: 'db',
    tests: ['test/db/ingest/states'],
  },
  {
    name: 'follow-ups of the other channels go on after a reply',
    file: EFFECTS,
    find: "await stopPlansOfPerson(client, conversation, { reason: 'lead_replied', at });",
    replace: '',
    tier: 'db',
    tests: ['test/db/races/stop-on-reply'],
  },
  {
    name: 'an opt-out is a word anywhere in the text',
    file: 'domain/opt-out.ts',
    find: "if (meansStop(message)) return 'stop';",
    replace: "if (/stop|quit|end|cancel|unsubscribe/.test(message.whole)) return 'stop';",
    tier: 'unit',
    tests: ['test/unit/domain/opt-out'],
  },
  {
    name: 'a machine that answers at once is talked to for ever',
    file: 'domain/loops.ts',
    find: "if (lastAre(answers, isTypedByNobody)) return 'answers_at_once';",
    replace: '',
    tier: 'unit',
    tests: ['test/unit/domain/loops'],
  },
];
