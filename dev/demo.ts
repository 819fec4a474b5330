/** The demo business of `npm start`, of the tests and of the benchmark: a made-up plumber. */
export const DEMO_BUSINESS = {
  id: 'biz_00000000000070008000000000000001',
  name: 'Rivera Plumbing',
  timeZone: 'America/Chicago',
  policyVersion: 'policy-2026-11',
  services: [
    {
      id: 'water-heater-repair',
      label: 'water heater repair',
      words: ['water heater', 'hot water', 'boiler', 'calentador', 'agua caliente'],
    },
    {
      id: 'drain-cleaning',
      label: 'drain cleaning',
      words: ['drain', 'clog', 'clogged', 'slow sink', 'backed up', 'desagüe', 'tapado'],
    },
    {
      id: 'leak-repair',
      label: 'leak repair',
      words: [
        'leak',
        'leaking',
        'burst pipe',
        'pipe',
        'drip',
        'faucet',
        'fuga',
        'tubería',
        'gotea',
      ],
    },
    {
      id: 'toilet-repair',
      label: 'toilet repair',
      words: ['toilet', 'running toilet', 'flush', 'inodoro', 'baño'],
    },
    {
      id: 'main-line-repair',
      label: 'main line repair',
      words: ['main line', 'sewer', 'sewage', 'alcantarillado'],
    },
  ],
} as const;

const WORKDAY = [{ from: '08:00', to: '18:00' }] as const;

/** Its rules: open on weekdays and Saturday mornings, quiet nights, answers at any hour. */
export const DEMO_POLICY = {
  businessHours: {
    monday: WORKDAY,
    tuesday: WORKDAY,
    wednesday: WORKDAY,
    thursday: WORKDAY,
    friday: WORKDAY,
    saturday: [{ from: '09:00', to: '14:00' }],
    sunday: [],
  },
  holidays: [
    { date: '2026-12-25', name: 'Christmas Day', ranges: [] },
    { date: '2027-01-01', name: "New Year's Day", ranges: [] },
  ],
  quietHours: { from: '21:00', to: '08:00' },
  answerOutsideHours: true,
  answerDelay: null,
  escalationWindowMinutes: null,
  manualReview: false,
  followUpDays: [1, 3, 7],
  restartAfterSilence: false,
  fallback: 'none',
  templates: {},
} as const;

/** Its accounts at the providers, as the sandbox has them. */
export const DEMO_ACCOUNTS = [
  {
    id: 'acc_00000000000070008000000000000001',
    provider: 'meta',
    channel: 'messenger',
    externalId: '100000000000001',
    credentials: { accessToken: 'sandbox-token' },
  },
  {
    id: 'acc_00000000000070008000000000000002',
    provider: 'meta',
    channel: 'instagram',
    externalId: '17840000000000001',
    credentials: { accessToken: 'sandbox-token' },
  },
  {
    id: 'acc_00000000000070008000000000000003',
    provider: 'meta',
    channel: 'whatsapp',
    externalId: '300000000000003',
    credentials: { accessToken: 'sandbox-token' },
  },
  {
    id: 'acc_00000000000070008000000000000004',
    provider: 'twilio',
    channel: 'sms',
    externalId: '+13125550100',
    credentials: {},
  },
] as const;
