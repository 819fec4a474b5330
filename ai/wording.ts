import type { Understanding } from '../domain/understanding';
import type { Danger } from './urgency';

/** How a reply begins: the first one, or a later one by what the lead just sent. */
export type OpeningKind = 'first' | 'noted' | 'question' | 'nudge' | 'media' | 'unsupported';

/** What the opening sentence of a reply may name. */
export interface Named {
  readonly businessName: string | null;
  /** The service in the words of the catalogue. */
  readonly label: string | null;
  /** Only a validated ZIP code of the lead's newest messages. */
  readonly zip: string | null;
}

interface Wording {
  readonly openings: Readonly<Record<OpeningKind, (named: Named) => string>>;
  readonly danger: Readonly<Record<Danger, string>>;
  readonly price: string;
  readonly booking: string;
}

function about(label: string | null): string {
  return label === null ? '' : ` about ${label}`;
}

function request(label: string | null): string {
  return label === null ? 'your request' : `your ${label} request`;
}

const ENGLISH: Wording = {
  openings: {
    first: ({ businessName, label, zip }) => {
      const place = label === null || zip === null ? '' : ` in ZIP ${zip}`;
      return businessName === null
        ? `Thanks for your message${about(label)}${place}.`
        : `Thanks for contacting ${businessName}${about(label)}${place}.`;
    },
    noted: ({ label, zip }) => {
      if (zip !== null) return `Thanks, we noted ZIP ${zip} for ${request(label)}.`;
      return label === null
        ? 'Thanks for the details.'
        : `Thanks, we added that to ${request(label)}.`;
    },
    question: ({ label }) => `Thanks, we noted your question with ${request(label)}.`,
    nudge: ({ label }) =>
      label === null ? 'Hi, yes, we are here.' : `Hi, yes, we still have ${request(label)}.`,
    media: ({ label }) => `Thanks for the photo or recording${about(label)}.`,
    unsupported: ({ label }) =>
      `Sorry, we could not open that message${about(label)}, so please send it as text.`,
  },
  danger: {
    gas: 'If you smell gas, please leave the building and call your gas utility or 911 from outside.',
    electric:
      'If it is safe, switch off the power at the panel; with smoke or fire, leave and call 911.',
    sewage: 'Until someone has looked at it, please avoid using the drains and toilets.',
    water:
      'If water is still running, please close the main shut-off valve if it is safe to reach.',
  },
  price: 'The price depends on the job, and a person confirms it with you before any work starts.',
  booking: 'A person on our team agrees any visit time with you.',
};

function solicitud(label: string | null): string {
  return label === null ? 'su solicitud' : `su solicitud: ${label}`;
}

function anotada(label: string | null): string {
  return label === null ? '' : ` Anotamos su solicitud: ${label}.`;
}

const SPANISH: Wording = {
  openings: {
    first: ({ businessName, label, zip }) => {
      const place = label === null || zip === null ? '' : ` Código postal: ${zip}.`;
      return businessName === null
        ? `Gracias por su mensaje.${anotada(label)}${place}`
        : `Gracias por escribir a ${businessName}.${anotada(label)}${place}`;
    },
    noted: ({ label, zip }) => {
      if (zip !== null)
        return `Gracias, anotamos el código postal ${zip} para ${solicitud(label)}.`;
      return label === null
        ? 'Gracias por la información.'
        : `Gracias, lo agregamos a ${solicitud(label)}.`;
    },
    question: ({ label }) => `Gracias, anotamos su pregunta junto con ${solicitud(label)}.`,
    nudge: ({ label }) =>
      label === null ? 'Hola, aquí seguimos.' : `Hola, seguimos con ${solicitud(label)}.`,
    media: ({ label }) => `Gracias por la foto o el audio.${anotada(label)}`,
    unsupported: ({ label }) =>
      `Disculpe, no pudimos abrir ese mensaje; por favor mándelo como texto.${anotada(label)}`,
  },
  danger: {
    gas: 'Si huele a gas, salga del edificio y llame a la compañía de gas o al 911 desde afuera.',
    electric: 'Si es seguro, corte la luz en el tablero; con humo o fuego, salga y llame al 911.',
    sewage: 'Mientras alguien lo revisa, por favor evite usar los desagües y el inodoro.',
    water:
      'Si sigue saliendo agua, por favor cierre la llave principal si puede hacerlo sin peligro.',
  },
  price: 'El precio depende del trabajo y una persona se lo confirma antes de empezar.',
  booking: 'Una persona de nuestro equipo acuerda con usted la hora de la visita.',
};

/** The sentences of a reply in the lead's language. */
export const WORDINGS: Readonly<Record<Understanding['language'], Wording>> = {
  en: ENGLISH,
  es: SPANISH,
};
