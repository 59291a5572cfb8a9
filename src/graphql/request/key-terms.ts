import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config/config.ts';
import { joinBudgets } from '../../service/call-budget.ts';
import type { NotedOperation, Visitor } from '../../service/caller.ts';
import { type Budget, budgetSeal } from '../../service/counted-budget.ts';
import { notReadable, type Rights } from '../../service/rights.ts';
import { Flow, type Job, yieldToEventLoop } from '../../shared/async/turns.ts';
import { Failure } from '../../shared/errors.ts';
import { type Exchanged, exchangedSeal } from './callers.ts';
import { createTagReader } from './document-tags.ts';
import { heldTexts } from './held-operations.ts';
import type { PersistedTexts } from './persisted.ts';
import type { GatewayRequest, OperationParts } from './requests.ts';

/** What a key of a plugin stands for, and what may be asked by it. */
export interface KeyTerms {
  /** Replaces the `Authorization` header: the service's key. Null for none, by which nothing is sent. */
  readonly authorization: string | null;
  /** A budget besides that of the service's key. */
  readonly budget?: Budget | undefined;
  /** Which of the visitors it is that share the key; left out if it belongs to one caller. */
  readonly visitor?: Visitor | undefined;
  /** True if only documents that are listed may run. */
  readonly isOfListed?: boolean;
  /** Parts of the graph that may be read beside countries and the catalogue; left out for all. */
  readonly tags?: readonly string[] | undefined;
  /**
   * Called with each operation once it is over, and with the refusal of a whole request for these terms.
   * @param of the request of this operation alone: the whole one, or part of a batch
   */
  readonly note?: ((operation: NotedOperation, of: OperationParts) => void) | undefined;
  /**
   * Calls a listener when the key stops working; returns a function that ends that. Left out if the service says so
   * itself.
   */
  readonly watch?: ((onEnd: (failure: Failure) => void) => () => void) | undefined;
}

interface TermsParts {
  readonly config: Pick<Config, 'maxTokens'>;
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedTexts;
}

/** Holds requests to the terms of their keys. */
export function createAdmitted({ config, schema, persisted }: TermsParts) {
  const tagsOf = createTagReader(schema, config.maxTokens);

  /** Refuses a document as a whole for what its text shows; everything else is checked where it is reached. */
  function refusalBy({ isOfListed = false }: KeyTerms, rights: Rights | undefined): Exchanged['refusalOf'] {
    if (!isOfListed && rights === undefined) return undefined;
    return (text) => {
      if (isOfListed && !persisted.lists(text))
        return new Failure(
          'DOCUMENT_NOT_ALLOWED',
          'By this key only documents may run that are listed here.',
        );
      if (rights === undefined) return null;
      const other = tagsOf(text).find((tag) => !rights.tags.has(tag));
      return other === undefined ? null : notReadable(rights, other);
    };
  }

  /** The failure of the first document that may not run. A text that isn't known yet is checked before it runs. */
  async function refusalIn(
    request: GatewayRequest,
    refusalOf: NonNullable<Exchanged['refusalOf']>,
    job: Job,
  ): Promise<Failure | null> {
    let isFirst = true;
    for (const text of heldTexts(request, persisted)) {
      // A request may bring thousands, whether or not they will run.
      if (!isFirst) await yieldToEventLoop(job);
      isFirst = false;
      const failure = refusalOf(text);
      if (failure !== null) return failure;
    }
    return null;
  }

  /** @throws Failure, which is noted, if the terms don't allow a document of the request */
  return async (terms: KeyTerms, request: GatewayRequest): Promise<Exchanged> => {
    const { authorization, visitor, note, tags, watch } = terms;
    const rights = tags && { name: tags.toSorted().join(), tags: new Set(tags) };
    const budget = budgetFor(terms, request);
    const refusalOf = refusalBy(terms, rights);
    const job = { flow: budget?.flow ?? new Flow() };
    const failure = refusalOf === undefined ? null : await refusalIn(request, refusalOf, job);
    if (failure !== null) {
      note?.({ name: null, calls: 0, shared: 0, cached: 0, errorCodes: [failure.code] }, request);
      throw failure;
    }
    return { authorization, budget, visitor, note, refusalOf, rights, watch };
  };
}

/** That of the key, and of the tool that asks: a tool's budget counts whoever pays. */
function budgetFor({ budget: given }: KeyTerms, { exchanged }: GatewayRequest): Exchanged['budget'] {
  const own = given && budgetSeal.open(given);
  const other = exchanged && exchangedSeal.open(exchanged).budget;
  if (own === undefined || other === undefined) return own ?? other;
  return joinBudgets(`${other.name} ${own.name}`, () => other.take(), own);
}
