import type { SandboxAccount } from './accounts';

/** Every id of the demo. They are the same in every run, so a seed can name them. */
export const DEMO_IDS = {
  metaAppId: '900000000000009',
  messengerPageId: '100000000000001',
  instagramAccountId: '17840000000000001',
  whatsAppBusinessAccountId: '200000000000002',
  whatsAppPhoneNumberId: '300000000000003',
  whatsAppDisplayPhoneNumber: '13125550100',
  smsNumber: '+13125550100',
} as const;

/** Secrets of the demo: nothing outside this program accepts them. */
export const DEMO_SECRETS = {
  metaAccessToken: 'sandbox-token',
  metaAppSecret: 'sandbox-app-secret',
  metaVerifyToken: 'sandbox-verify-token',
  twilioAccountSid: 'AC00000000000000000000000000000001',
  twilioAuthToken: 'sandbox-auth-token',
} as const;

/** The demo accounts, one per channel; the SMS number belongs to `twilioAccountSid`. */
export function demoAccounts(twilioAccountSid: string): readonly SandboxAccount[] {
  const name = 'Rivera Plumbing';
  return [
    {
      channel: 'messenger',
      externalId: DEMO_IDS.messengerPageId,
      accountId: DEMO_IDS.messengerPageId,
      name,
    },
    {
      channel: 'instagram',
      externalId: DEMO_IDS.instagramAccountId,
      accountId: DEMO_IDS.instagramAccountId,
      name,
    },
    {
      channel: 'whatsapp',
      externalId: DEMO_IDS.whatsAppPhoneNumberId,
      accountId: DEMO_IDS.whatsAppBusinessAccountId,
      name,
      displayPhoneNumber: DEMO_IDS.whatsAppDisplayPhoneNumber,
    },
    { channel: 'sms', externalId: DEMO_IDS.smsNumber, accountId: twilioAccountSid, name },
  ];
}
