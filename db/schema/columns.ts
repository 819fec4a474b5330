import { customType, timestamp } from 'drizzle-orm/pg-core';

/** Raw bytes, as received. */
export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/**
 * An instant. It is read as text, because a JavaScript `Date` drops the microseconds that
 * distinguish tokens. No such column has a default: every rule's instant comes from the `Clock`.
 */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' });
