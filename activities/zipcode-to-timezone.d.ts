declare module 'zipcode-to-timezone' {
  /** The IANA zone of a US ZIP code; null where it is not known. */
  export function lookup(zipCode: string): string | null;
}
