/** Both of the vendor's formats have one envelope. */
export { encodeError, encodeErrorBody } from '../openai-chat/encode-error';
