/**
 * Where a recipient may be (S6): the zones in none of which it may be quiet when the business
 * starts something. One zone where it is known, several where it is not.
 */
export interface RecipientZones {
  readonly source: 'zip' | 'area-code' | 'country';
  /** IANA zones, never empty. */
  readonly zones: readonly string[];
}

/** What look-ups found, the surest first; empty where they found nothing. */
export interface ZoneFindings {
  /** The zone of the ZIP code that the lead named. */
  readonly zip: string | null;
  /** The zones of the lead's area code; a toll-free number has many. */
  readonly areaCode: readonly string[];
  /** All zones of the business's country. */
  readonly country: readonly string[];
  readonly businessTimeZone: string;
}

/**
 * Chooses by the surest finding: ZIP, then area code, else every zone of the business's country,
 * so that a message leaves only when it is day in all of them (the strictest intersection).
 */
export function chooseRecipientZones(findings: ZoneFindings): RecipientZones {
  if (findings.zip !== null) return { source: 'zip', zones: [findings.zip] };
  if (findings.areaCode.length > 0) return { source: 'area-code', zones: findings.areaCode };
  const zones = findings.country.length > 0 ? findings.country : [findings.businessTimeZone];
  return { source: 'country', zones };
}

const ZIP_CODE = /(?<![\d-])(\d{5})(?:-\d{4})?(?![\d-])/;

/** The US ZIP code in what the lead said of the place; null where there is none. */
export function zipCodeOf(location: string | null): string | null {
  return ZIP_CODE.exec(location ?? '')?.[1] ?? null;
}
