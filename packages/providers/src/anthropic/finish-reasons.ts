/** The models' own reasons, whoever hosts them. */
export { finishEvent } from '../claude/finish-reasons';
