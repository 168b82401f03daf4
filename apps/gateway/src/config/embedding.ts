import { ConfigError, type EnvReader } from './values';

/**
 * Source of the semantic cache's vectors; by default the bundled model in process. `modelPath`: a folder with another
 * model's `tokenizer.json`, `config.json` and `onnx/`.
 */
export function readEmbeddingSettings(read: EnvReader) {
  const serviceUrl = read.url('EMBEDDING_SERVICE_URL', ['http:', 'https:']);
  const modelPath = read.text('EMBEDDING_MODEL_PATH');
  if (serviceUrl !== undefined && modelPath !== undefined) {
    throw new ConfigError(
      'EMBEDDING_MODEL_PATH',
      modelPath,
      'not together with EMBEDDING_SERVICE_URL: set one of them',
    );
  }
  const serviceApi = read.oneOf('EMBEDDING_SERVICE_API', 'embed', ['embed', 'embeddings']);
  const serviceModel = read.text('EMBEDDING_SERVICE_MODEL');
  if (serviceUrl !== undefined && serviceApi === 'embeddings' && serviceModel === undefined) {
    throw new ConfigError(
      'EMBEDDING_SERVICE_MODEL',
      '',
      'a model name is needed with EMBEDDING_SERVICE_API=embeddings',
    );
  }
  return { serviceUrl, serviceApi, serviceModel, serviceKey: read.text('EMBEDDING_SERVICE_KEY'), modelPath };
}
