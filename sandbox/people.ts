import { createHash } from 'node:crypto';

/** One lead as the providers know it. All of it follows from the name. */
export interface Person {
  readonly name: string;
  /** Page-scoped user id (PSID). */
  readonly messengerId: string;
  /** Instagram-scoped user id (IGSID). */
  readonly instagramId: string;
  /** WhatsApp's business-scoped user id (BSUID). */
  readonly whatsappUserId: string;
  readonly whatsappUsername: string;
  /** E.164; WhatsApp and SMS share it, as they do for a real person. */
  readonly phone: string;
  /** The state of the area code, as Twilio's `FromState`. */
  readonly state: string;
}

export type AddressKind = 'messenger' | 'instagram' | 'whatsapp-user' | 'phone';

/** Area codes of the Central time zone, so quiet hours of made-up leads are those of the demo. */
const AREA_CODES: readonly (readonly [area: string, state: string])[] = Object.entries({
  IL: '312 773 708 847 630 815 217 309 618',
  WI: '414 262 608 920',
  MN: '612 651 763 952 507 218 320',
  IA: '515 319 563 712 641',
  MO: '314 816 417 573 636 660',
  TX: '214 972 469 713 281 832 512 210 817',
  TN: '615 901',
  LA: '504 225',
  KS: '316 913',
  OK: '405 918',
  AR: '501 479 870',
  MS: '601 662',
  AL: '205 256',
}).flatMap(([state, areas]) => areas.split(' ').map((area) => [area, state] as const));

/** The first tries take 555-01xx, the lines reserved for fiction; crowds need all of 555. */
const FICTION_TRIES = 4;
const TRIES = 200;

function hash(label: string, name: string, attempt: number): bigint {
  const digest = createHash('sha256')
    .update(`${label}\n${String(attempt)}\n${name}`)
    .digest();
  return digest.readBigUInt64BE(0);
}

function digits(number: bigint, length: number): string {
  return (number % 10n ** BigInt(length)).toString().padStart(length, '0');
}

function usernameOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '.');
  return plain.replace(/^\.|\.$/g, '').slice(0, 30) || 'someone';
}

/** All leads seen so far, by name and by address. */
export class People {
  readonly #byName = new Map<string, Person>();
  readonly #byAddress = new Map<string, Person>();
  readonly #reserved: ReadonlySet<string>;

  /** `reservedNumbers` are the businesses' own numbers: no lead gets one. */
  constructor(reservedNumbers: readonly string[]) {
    this.#reserved = new Set(reservedNumbers);
  }

  /**
   * The person with that name. Addresses come from a hash of the name, so they are the same in
   * every run; only where two names hash to one number does the order of appearance decide.
   */
  named(name: string): Person {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const { phone, state } = this.#newPhone(name);
    const person: Person = {
      name,
      messengerId: this.#newAddress('messenger', name, (number) => `7${digits(number, 15)}`),
      instagramId: this.#newAddress('instagram', name, (number) => `8${digits(number, 15)}`),
      whatsappUserId: this.#newAddress('whatsapp-user', name, (n) => `US.1${digits(n, 15)}`),
      whatsappUsername: usernameOf(name),
      phone,
      state,
    };
    this.#byName.set(name, person);
    this.#byAddress.set(`messenger ${person.messengerId}`, person);
    this.#byAddress.set(`instagram ${person.instagramId}`, person);
    this.#byAddress.set(`whatsapp-user ${person.whatsappUserId}`, person);
    this.#byAddress.set(`phone ${phone}`, person);
    return person;
  }

  /** The person behind an address, or null where nobody with it has appeared yet. */
  at(kind: AddressKind, value: string): Person | null {
    return this.#byAddress.get(`${kind} ${value}`) ?? null;
  }

  #newAddress(kind: AddressKind, name: string, write: (number: bigint) => string): string {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const value = write(hash(kind, name, attempt));
      if (!this.#byAddress.has(`${kind} ${value}`)) return value;
    }
    throw new Error(`No free ${kind} address is left for another lead.`);
  }

  #newPhone(name: string): { readonly phone: string; readonly state: string } {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const number = hash('phone', name, attempt);
      const [area, state] = AREA_CODES[Number(number % BigInt(AREA_CODES.length))] ?? ['312', 'IL'];
      const rest = number / BigInt(AREA_CODES.length);
      const line = attempt < FICTION_TRIES ? `01${digits(rest, 2)}` : digits(rest, 4);
      const phone = `+1${area}555${line}`;
      // 555-1212 is directory assistance everywhere.
      const taken = line === '1212' || this.#reserved.has(phone);
      if (!taken && !this.#byAddress.has(`phone ${phone}`)) return { phone, state };
    }
    throw new Error('No free phone number is left for another lead.');
  }
}
