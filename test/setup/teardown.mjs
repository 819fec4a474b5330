import { release } from './environment.mjs';

export default release;
