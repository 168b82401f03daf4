import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import type { TextEmbedder } from '@llm0/core/embedding/built-in-embeddings';
import type { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { Provider } from '@llm0/providers/provider';
import type { TaskAnswer, TaskPart } from '@llm0/providers/transport/call-task';

/** What the gateway has to know about one kind of task. Everything else is the same for all kinds. */
export interface Task<R extends TaskRequest = TaskRequest, A extends JsonObject = JsonObject> {
  /** For messages: "has no …", "Name a … model". */
  readonly noun: string;
  /** A model has one of these prices, or none for this task. */
  readonly pricedBy: readonly string[];
  /** Cached wherever the project caches; else only where the caller asks for it by a lifetime. */
  readonly isCached: boolean;
  partOf(provider: Provider): TaskPart<R, A> | undefined;
  /** The most that a target bills. Throws `request_over_limit` where strict caps find no bound. */
  boundOf(request: R, priced: PricedModel, strict: boolean): Usage;
  /** True where the bound is the bill itself, such as the characters of a text; absent where it never is. */
  billsBound?(priced: PricedModel): boolean;
  /**
   * The fields with its text, without what guardrails remove; all others are judged alike. Throws for content that they
   * can't read.
   */
  judge(by: Judging, request: R): Promise<Partial<R>>;
  /** Another model that works on the request, billed beside the target; absent where there is none. */
  helperOf?(request: R): Helper | undefined;
  /** All of its text. */
  textOf(request: R): unknown;
  /** The answer with each of its texts judged; absent where it has none. */
  judgeAnswer?(by: JudgedAnswer, answer: A): Promise<A>;
  /** Fields that the answer repeats in a form that nobody can read; absent where there are none. */
  judgeSaid?(judge: JudgedAnswer['text'], request: R): Promise<Partial<R>>;
  /** Answers by the model in this process; absent where that can't. */
  answerHere?(embedder: TextEmbedder, request: R, limits: HereLimits): Promise<TaskAnswer<A>>;
}

/** A further model of the target's vendor, named by a field of the request. */
export interface Helper {
  readonly field: string;
  readonly model: string;
  /** As `Task.boundOf`. */
  boundOf(priced: PricedModel, strict: boolean): Usage;
}

/** Guardrails at work on an answer. Throws `guardrail_blocked`. */
export interface JudgedAnswer {
  text(text: string): Promise<string>;
  /** Other forms of the text, by the searching rules; lists as one text. */
  value<T extends JsonValue>(value: T): Promise<T>;
}

/** Guardrails at work on a request. */
export interface Judging {
  readonly texts: GuardedTexts;
  /** Name of a rule that may refuse or change the input; undefined where all is only watched. */
  readonly enforcing: string | undefined;
}

export interface HereLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
