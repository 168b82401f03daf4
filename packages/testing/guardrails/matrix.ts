import { appendFileSync } from 'node:fs';

/** One cell of the matrix, and what was seen in it. */
export interface MatrixCell {
  readonly on: 'input' | 'output';
  readonly route: string;
  readonly vendor: string;
  readonly stream: boolean;
  readonly part: string;
  readonly action: string;
  /** Requests that were made with secrets in them, each cut in another way. */
  readonly tries: number;
  /** Secrets that came out: 0 or the guardrails can be walked around. */
  readonly leaks: number;
}

/** Gathers what the tests of a file see; added as a line of JSON where `GUARDRAIL_MATRIX_FILE` names a file. */
export class Matrix {
  private readonly cells: MatrixCell[] = [];

  note(cell: MatrixCell): void {
    this.cells.push(cell);
  }

  write(): void {
    const path = process.env.GUARDRAIL_MATRIX_FILE;
    if (path !== undefined && path !== '') appendFileSync(path, `${JSON.stringify(this.cells)}\n`);
  }
}
