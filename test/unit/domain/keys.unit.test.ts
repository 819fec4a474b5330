import fc from 'fast-check';
import {
  followUpSourceEvent,
  jobKey,
  replySourceEvent,
  sendIdentityText,
  type SendIdentity,
} from '../../../domain/keys';
import { deepFreeze } from '../../support/deep-freeze';

const IDENTITY: SendIdentity = deepFreeze({
  accountId: 'acc_1',
  conversationId: 'cnv_1',
  sourceEvent: 'inbound:3:2026-11-30 18:00:00.000001+00',
  purpose: 'answer',
  policyVersion: 'policy-1',
});

describe('the identity of a logical send', () => {
  it('is the same text for the same parts, whatever their order [C5]', () => {
    const reordered = Object.fromEntries(Object.entries(IDENTITY).reverse());
    expect(sendIdentityText(reordered as unknown as SendIdentity)).toBe(sendIdentityText(IDENTITY));
  });

  it.each(Object.keys(IDENTITY) as (keyof SendIdentity)[])(
    'changes when its %s does [C5]',
    (part) => {
      const other = { ...IDENTITY, [part]: `${IDENTITY[part]}x` };
      expect(sendIdentityText(other)).not.toBe(sendIdentityText(IDENTITY));
    },
  );

  it('never runs two identities together, whatever stands in the parts [C5]', () => {
    const identity = fc.record({
      accountId: fc.string(),
      conversationId: fc.string(),
      sourceEvent: fc.string(),
      purpose: fc.string(),
      policyVersion: fc.string(),
    });
    fc.assert(
      fc.property(identity, identity, (one, other) => {
        const same = Object.keys(one).every(
          (part) => one[part as keyof SendIdentity] === other[part as keyof SendIdentity],
        );
        expect(sendIdentityText(one) === sendIdentityText(other)).toBe(same);
      }),
    );
  });
});

describe('the source event', () => {
  it('of a reply names the newest covered message and the token, to the microsecond [C5] [T2]', () => {
    const token = '2026-11-30 18:00:00.000001+00';
    expect(replySourceEvent(3, token)).toBe(`inbound:3:${token}`);
    expect(replySourceEvent(3, token)).not.toBe(replySourceEvent(3, token.replace('1+', '2+')));
    expect(replySourceEvent(3, token)).not.toBe(replySourceEvent(4, token));
  });

  it('of a follow-up names plan and step [C5]', () => {
    expect(followUpSourceEvent('pln_1', 2)).toBe('plan:pln_1:2');
  });

  it('of a job names receipt, operation and version [IN2]', () => {
    expect(jobKey('rcp_1', 'initial-response', 1)).toBe('rcp_1:initial-response:v1');
  });
});
