export { conversation } from './conversation';
export { deliveryJob } from './delivery-job';
export { rawBodyRetention, takeoverLogRetention } from './retention';
