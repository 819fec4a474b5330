/** Reads `test/proofs.yml`: which tiers must prove an id, or which later work brings it. */
import { parse } from 'yaml';
import { TIERS } from './results.mjs';

const KEYS = ['tiers', 'later', 'planned'];

/** The entries by id, and a sentence for each fault of the file. */
export function readPlan(text, knownIds) {
  const { entries, unreadable } = parseEntries(text);
  if (unreadable) return { plan: new Map(), faults: [unreadable] };
  const undefinedIds = Object.keys(entries).filter((id) => !knownIds.has(id));
  const missing = [...knownIds.keys()].filter((id) => !Object.hasOwn(entries, id));
  const known = Object.entries(entries).filter(([id]) => knownIds.has(id));
  return {
    plan: new Map(known.filter(([, entry]) => !faultOf(entry))),
    faults: [
      ...undefinedIds.map((id) => `test/proofs.yml names ${id}, which no page defines.`),
      ...missing.map((id) => `test/proofs.yml lacks ${id}, which docs/ defines.`),
      ...known.flatMap(([id, entry]) => (faultOf(entry) ? [said(id, faultOf(entry))] : [])),
    ],
  };
}

function said(id, fault) {
  return `test/proofs.yml: ${id} ${fault}.`;
}

function parseEntries(text) {
  try {
    return { entries: parse(text) ?? {} };
  } catch (error) {
    return { unreadable: `test/proofs.yml cannot be read: ${error.message}` };
  }
}

function faultOf(entry) {
  const { tiers, later, planned } = entry ?? {};
  if ((tiers === undefined) === (planned === undefined)) return 'needs either tiers or planned';
  const strange = Object.keys(entry).find((key) => !KEYS.includes(key));
  if (strange) return `has the unknown key "${strange}"`;
  if (planned !== undefined) return faultOfPlanned(planned, later);
  return (
    faultOfTiers(tiers) ??
    (later === undefined || isText(later) ? null : 'says no text after later')
  );
}

function faultOfPlanned(planned, later) {
  if (later !== undefined) return 'is planned, so all of it comes later';
  return isText(planned) ? null : 'does not say which later work brings it';
}

function faultOfTiers(tiers) {
  if (!Array.isArray(tiers) || tiers.length === 0) return 'names no tier';
  const unknown = tiers.find((tier) => !TIERS.includes(tier));
  return unknown === undefined
    ? null
    : `names the tier "${unknown}"; there are ${TIERS.join(', ')}`;
}

function isText(value) {
  return typeof value === 'string' && /\w/.test(value);
}
