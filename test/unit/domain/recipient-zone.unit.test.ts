import { lookUpZones } from '../../../activities/recipient-zones';
import { zipCodeOf } from '../../../domain/recipient-zone';

describe('where a recipient may be', () => {
  it.each([
    ['60614', '60614'],
    ['we live in 60614-1234, Chicago', '60614'],
    ['Evanston', null],
    ['call 3125550142', null],
    ['606145', null],
    [null, null],
  ])('reads a ZIP code in %j: %j [S6]', (location, zip) => {
    expect(zipCodeOf(location)).toBe(zip);
  });

  const facts = {
    channel: 'sms',
    businessTimeZone: 'America/Chicago',
    location: null,
    phones: [],
  } as const;
  const log = { warn: () => undefined };
  const zonesOf = (change: {
    location?: string;
    phones?: readonly string[];
    businessTimeZone?: string;
  }) => lookUpZones({ log }, { ...facts, ...change });

  it('takes the ZIP code before the area code [S6]', async () => {
    expect(await zonesOf({ location: '90210', phones: ['+13125550142'] })).toEqual({
      source: 'zip',
      zones: ['America/Los_Angeles'],
    });
  });

  it('takes the area code where no ZIP code is known [S6]', async () => {
    expect(await zonesOf({ location: '99999', phones: ['+18085550142'] })).toEqual({
      source: 'area-code',
      zones: ['Pacific/Honolulu'],
    });
  });

  it('takes every zone of a toll-free number and of a person with two numbers [S6]', async () => {
    const tollFree = await zonesOf({ phones: ['+18005550142'] });
    expect(tollFree.zones.length).toBeGreaterThan(10);
    const two = await zonesOf({ phones: ['+13125550142', '+12125550142'] });
    expect(two.zones).toEqual(['America/Chicago', 'America/New_York']);
  });

  it('reads no ZIP code where the business is elsewhere, and knows its country [S6]', async () => {
    const zones = await zonesOf({ location: '60614', businessTimeZone: 'Europe/Berlin' });
    expect(zones.source).toBe('country');
    expect(zones.zones).toContain('Europe/Berlin');
    expect(zones.zones).not.toContain('America/Chicago');
  });

  it('keeps every zone of the country where nothing is known of the lead [S6] [INV-14]', async () => {
    const { source, zones } = await zonesOf({});
    expect(source).toBe('country');
    expect(zones).toEqual(
      expect.arrayContaining(['America/New_York', 'America/Los_Angeles', 'Pacific/Honolulu']),
    );
  });

  it('has the business’s own zone where that has no country [S6]', async () => {
    expect(await zonesOf({ businessTimeZone: 'UTC' })).toEqual({
      source: 'country',
      zones: ['UTC'],
    });
  });
});
