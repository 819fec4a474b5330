import fc from 'fast-check';
import { joinStatus, type DeliveryStatus } from '../../../domain/delivery-status';

const STATUSES: readonly DeliveryStatus[] = ['queued', 'sent', 'delivered', 'read', 'failed'];

/** Every order of the given reports. */
function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

function fold(reports: readonly DeliveryStatus[]): DeliveryStatus | null {
  return reports.reduce<DeliveryStatus | null>(joinStatus, null);
}

describe('a delivery status', () => {
  it.each(permutations<DeliveryStatus>(['queued', 'sent', 'delivered', 'read']))(
    'ends as read from %s, %s, %s, %s [INV-16]',
    (...reports) => {
      expect(fold(reports)).toBe('read');
    },
  );

  it.each(permutations<DeliveryStatus>(['queued', 'sent', 'failed', 'failed']))(
    'ends as failed from %s, %s, %s, %s [INV-16]',
    (...reports) => {
      expect(fold(reports)).toBe('failed');
    },
  );

  it.each<[DeliveryStatus, DeliveryStatus, DeliveryStatus]>([
    ['delivered', 'failed', 'delivered'],
    ['read', 'failed', 'read'],
    ['failed', 'delivered', 'failed'],
    ['failed', 'read', 'failed'],
    ['sent', 'failed', 'failed'],
    ['queued', 'failed', 'failed'],
    ['delivered', 'sent', 'delivered'],
    ['read', 'delivered', 'read'],
  ])('that is %s and is reported as %s stays or becomes %s [INV-16]', (recorded, reported, end) => {
    expect(joinStatus(recorded, reported)).toBe(end);
  });

  it('is the first report where none is on record [INV-16]', () => {
    for (const reported of STATUSES) expect(joinStatus(null, reported)).toBe(reported);
  });

  it('only moves up, and a repeat changes nothing, in any order of any reports [INV-16]', () => {
    const rank = (status: DeliveryStatus | null) =>
      status === null ? -1 : STATUSES.indexOf(status);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATUSES), { maxLength: 12 }), (reports) => {
        let recorded: DeliveryStatus | null = null;
        for (const reported of reports) {
          const next: DeliveryStatus = joinStatus(recorded, reported);
          expect(rank(next)).toBeGreaterThanOrEqual(rank(recorded));
          expect(joinStatus(next, reported)).toBe(next);
          recorded = next;
        }
      }),
    );
  });
});
