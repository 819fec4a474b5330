export { conversation } from './conversation';
export { rawBodyRetention } from './retention';
