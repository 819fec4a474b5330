import type { Demand } from './opt-out-demands';
import { union, wordSet } from './opt-out-phrases';

const ES_WHOM = wordSet(
  'me nos mi este esta ese esa estos estas esos esas mas ya nunca jamas otra vez de nuevo',
  'nada a al',
  'por numero telefono celular sus tus su tu los las la el lo que ni o y en con ustedes',
  'usted tantos',
  'ningun otro otros ahora inmediatamente',
);
const ES_MESSAGES = wordSet(
  'mensaje mensajes mensajitos texto textos sms llamadas notificaciones alertas publicidad',
  'promociones spam anuncios avisos suscripcion',
);
const ES_LISTS = union(
  ES_WHOM,
  ES_MESSAGES,
  wordSet('lista listas base datos contactos sistema registro registros servicio den dar'),
);
const ES_AGAIN = wordSet('mas nunca jamas nuevo');
const ES_WRITE =
  '(?:escrib(?:a|an|as|es)|contact(?:e|en|es)|molest(?:e' +
  '|en|es)|text(?:ee|een|ees)|hosti(?:gue|guen)' +
  '|mensaje(?:e|en|es)|busqu(?:e|en|es)|habl(?:e|en|es)|jod(?:a|an|as)|fastidi(?:e|en|es))';
const ES_CALL = '(?:llam(?:e|en|es)|marqu(?:e|en|es))';
const ES_SEND = '(?:mand(?:e|en|es)|envi(?:e|en|es))';
const ES_DOING =
  '(?:escribir|contactar|molestar|textear|mensajear|buscar|hablar|llamar|fastidiar|joder|mandar' +
  '|enviar)(?:me|nos)?';
const ES_REQUEST =
  '(?:(?:pueden?|puedes|podrian?|podrias|quiero que|quisiera que|necesito que|les? pido que|ya) )?';
const ES_ERASE = '(?:quit|saqu|sac|borr|elimin|remuev)(?:e|en|a|an)';

/** The demands for silence in Spanish, without accents. */
export const SPANISH_DEMANDS: readonly Demand[] = [
  {
    opens: `${ES_REQUEST}(?:dej(?:a|e|en|ar|es)|par(?:a|e|en|ar|es))(?: ya)? de ${ES_DOING}`,
    allows: union(ES_WHOM, ES_MESSAGES),
  },
  {
    opens: `(?:ya )?(?:no|nunca|nunca mas|jamas)(?: ya)? (?:me|nos) ${ES_WRITE}`,
    allows: union(ES_WHOM, ES_MESSAGES),
  },
  { opens: `no (?:me|nos) ${ES_CALL}`, allows: ES_WHOM, needs: ES_AGAIN },
  { opens: `no (?:me|nos) ${ES_CALL} (?:ni|y|o) (?:me |nos )?${ES_WRITE}`, allows: ES_WHOM },
  {
    opens: '(?:ya )?no (?:quiero|deseo|queremos) (?:recibir|saber) (?:mas )?nada',
    allows: ES_LISTS,
  },
  { opens: `(?:ya no|nunca|nunca mas|jamas) (?:me|nos) ${ES_CALL}`, allows: ES_WHOM },
  {
    opens: `(?:ya )?(?:no|nunca)(?: me| nos)? ${ES_SEND}`,
    allows: union(ES_WHOM, ES_MESSAGES),
    needs: union(ES_MESSAGES, wordSet('mas nada')),
  },
  {
    opens: `(?:ya )?no (?:${ES_WRITE}|${ES_CALL})`,
    allows: ES_WHOM,
    needs: wordSet('mas nunca numero telefono'),
  },
  { opens: '(?:ya )?no molest(?:e|en|es)', allows: ES_AGAIN },
  {
    opens:
      '(?:ya )?no (?:me |nos )?sig(?:a|an|as) (?:escrib|llam|mand|envi|molest|contact|text)' +
      '(?:e?ando|iendo)(?:me|nos)?',
    allows: union(ES_WHOM, ES_MESSAGES),
  },
  { opens: `(?:ya )?no (?:(?:me|nos) )?vuelv(?:a|an|as) a ${ES_DOING}`, allows: ES_LISTS },
  {
    opens: '(?:ya )?no (?:quiero|deseo|queremos|autorizo|necesito|acepto)',
    allows: union(ES_LISTS, wordSet('recibir recibiendo ser contactado contactada informacion')),
    needs: union(ES_MESSAGES, wordSet('contactado contactada informacion')),
  },
  {
    opens:
      `(?:ya )?no (?:quiero|deseo|queremos) que (?:me` +
      `|nos) (?:sigan? )?(?:${ES_WRITE}|${ES_CALL}` +
      `|${ES_SEND}|escribiendo|llamando|mandando)`,
    allows: union(ES_WHOM, ES_MESSAGES),
  },
  {
    opens: '(?:ya )?(?:no mas|no|basta de|basta con|stop|alto a|parar|paren?)',
    allows: union(ES_WHOM, ES_MESSAGES),
    needs: ES_MESSAGES,
  },
  { opens: `${ES_REQUEST}${ES_ERASE}(?:me|nos)`, allows: ES_LISTS },
  {
    opens:
      `${ES_REQUEST}(?:de )?(?:${ES_ERASE}|quitar|borrar|eliminar) (?:mi|este|mis)` +
      ' (?:numero|telefono|contacto|nombre|informacion|datos|celular)',
    allows: ES_LISTS,
  },
  {
    opens:
      '(?:(?:me|como|quiero|quisiera|deseo|necesito|puedo|solicito|yo|que) )*' +
      '(?:dar|darme|darnos|darse|deme|denme|dame|doy|den|dan) de baja(?= de|$)',
    allows: ES_LISTS,
  },
  { opens: '(?:quiero|solicito|pido) (?:la|mi) baja', allows: ES_LISTS },
  {
    opens: '(?:(?:me|quiero|quisiera|deseo|necesito) )*desuscrib(?:ir|a|an|e)(?:me|nos)?',
    allows: ES_LISTS,
  },
  { opens: `(?:de )?no ${ES_DOING}`, allows: ES_WHOM, needs: ES_AGAIN },
  { opens: '(?:de )?no (?:molestar|escribirme|contactarme|textear|textearme)', allows: ES_WHOM },
  {
    opens: `(?:quiero|quisiera|necesito|pido) que (?:me|nos) ${ES_ERASE} de`,
    allows: ES_LISTS,
    needs: wordSet('lista listas base contactos sistema'),
  },
  {
    opens: '(?:(?:quiero|quisiera|deseo|necesito) )+(?:dejar de recibir|salir de)',
    allows: ES_LISTS,
    needs: union(ES_MESSAGES, wordSet('lista listas')),
  },
  {
    opens: '(?:(?:quiero|quisiera|deseo|necesito) )?cancel(?:ar|e|en|a)',
    allows: ES_LISTS,
    needs: ES_MESSAGES,
  },
  { opens: `${ES_REQUEST}dej(?:e|en|a)(?:me|nos) (?:en paz|tranquil[oa])`, allows: ES_WHOM },
];
