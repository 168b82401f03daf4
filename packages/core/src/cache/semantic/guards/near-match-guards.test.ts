import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { findRefusal, type GuardName } from './near-match-guards';

/** Close for a sentence embedding, but the answer to one is wrong for the other. */
const REFUSED: Readonly<Record<GuardName, readonly (readonly [string, string])[]>> = {
  quotes: [
    ['Translate "good morning" to Spanish', 'Translate "good night" to Spanish'],
    ['Summarize in a sentence: The board said yes today.', 'Summarize in a sentence: The board said no today.'],
    ['What rhymes with "cat"?', 'What rhymes with the word dog?'],
    ["Is 'cant' a word?", "Is 'rant' a word?"],
    ['Fix the text:\nhe go to school', 'Fix the text:\nhe went to school'],
  ],
  code: [
    ['What does `git reset` do?', 'What does `git revert` do?'],
    ['Fix this, please, range(10)', 'Fix this, please, range(100)'],
    ['Is `rm -rf ./a` safe?', 'Is `rm -rf /a` safe?'],
    ['What is x^2?', 'What is x^3?'],
    ['explain ```\nlet a = 1\n```', 'explain ```\nlet a = 2\n```'],
    ['list files in /var/log', 'list files in /var/lib'],
    ['What is 12 + 7?', 'What is 12 * 7?'],
  ],
  language: [
    ['Write hello world in Python', 'Write hello world in Ruby'],
    ['Say cheers in Danish', 'Say cheers in Norwegian'],
    ['What does this mean: привет', 'What does this mean: hello'],
  ],
  numbers: [
    ['convert 5 miles to km', 'convert 6 miles to km'],
    ['the second world war', 'the first world war'],
    ['When did World War II end?', 'When did World War I end?'],
    ['list three causes', 'list five causes'],
    ['What is 15% of 240?', 'What is 15% of 24?'],
    ['Does version 2.3.1 work?', 'Does version 2.1.3 work?'],
    ['set an alarm for 6:30', 'set an alarm for 7:30'],
    ['twenty one apples', 'twenty two apples'],
    ['What is 1,000 times 2?', 'What is 10,000 times 2?'],
    ['invoice of 2024-03-05', 'invoice of 2024-05-03'],
  ],
  dates: [
    ['Open on Monday?', 'Open on Tuesday?'],
    ['sales in March', 'sales in May'],
    ['weather today', 'weather tomorrow'],
    ['a table at 8 am', 'a table at 8 pm'],
    ['sales in Q1', 'sales in Q2'],
  ],
  units: [
    ['How tall is Everest in meters?', 'How tall is Everest in feet?'],
    ['a loan over 5 years', 'a loan over 5 months'],
    ['costs $20', 'costs €20'],
    ['3 hours in minutes', '3 minutes in hours'],
  ],
  negation: [
    ['Is it safe to take it?', 'Is it not safe to take it?'],
    ['Which customers have paid?', "Which customers haven't paid?"],
    ['pancakes with eggs', 'pancakes without eggs'],
    ['It was not delivered but I paid', 'It was delivered but I never paid'],
    ['I can log in', "I can't log in"],
  ],
  scope: [
    ['delete all branches that are merged', 'delete one branch that is merged'],
    ['How do I check every file?', 'How do I check a file?'],
    ['mute a group chat', 'mute just one person in a group chat'],
    ['Can I share it with another user?', 'Can I share it with a user?'],
    ['Who was the president of France?', 'Who is the president of France?'],
    ['Explain a poem about rain', 'Write a poem about rain'],
  ],
  antonyms: [
    ['How do I enable dark mode?', 'How do I disable dark mode?'],
    ['sort ascending', 'sort descending'],
    ['How do I turn on the alarm?', 'How do I turn off the alarm?'],
    ['before the meeting', 'after the meeting'],
    ['Is it legal here?', 'Is it illegal here?'],
    ['lock the door', 'unlock the door'],
    ['the maximum dose', 'the minimum dose'],
  ],
  names: [
    ['Tell me the capital of France', 'Tell me the capital of Germany'],
    ['Write to Anna about lunch', 'Write to Hanna about lunch'],
  ],
  words: [
    ['Can dogs eat grapes?', 'Can cats eat grapes?'],
    ['How do I cancel my order?', 'How do I cancel my order by phone?'],
    ['write a poem', 'write a poem about a lighthouse'],
    ['How many days is that?', 'How many working days is that?'],
    ['Where can I sell cars?', 'Where can I sell used cars?'],
    ['What does a for loop do?', 'What does a while loop do?'],
    ['Can I get a refund?', 'Can I get a full refund?'],
  ],
  question: [
    ['Who wrote the report?', 'When did we write the report?'],
    ['Why is Pluto a planet?', 'Is Pluto a planet?'],
    ['How do I use cookies?', 'Must I use cookies?'],
    ['Can I stretch before running?', 'Should I stretch before running?'],
  ],
  order: [
    ['flights from london to paris', 'flights from paris to london'],
    ['is python slower than java', 'is java slower than python'],
    ['Did Bob send it to Alice?', 'Did Alice send it to Bob?'],
    ['Who defeated Napoleon?', 'Who did Napoleon defeat?'],
    ['pay by card instead of by invoice', 'pay by invoice instead of by card'],
    ['Do you ship to Canada?', 'Do you ship from Canada?'],
    ['dog bites man', 'man bites dog'],
    ["Is her car older than Tom's bike?", "Is Tom's bike older than her car?"],
    ['Rename `a` to `b`', 'Rename `b` to `a`'],
    ['Who reports to the head of sales?', 'Who does the head of sales report to?'],
    ['What do owls eat?', 'What eats owls?'],
    ["What time is it in Rome when it's noon in Lima?", "What time is it in Lima when it's noon in Rome?"],
    ['a refund for a trip that was cancelled by the agency', 'a refund for a trip that I cancelled with the agency'],
  ],
};

/** Little words and forms that turn an answer around; whichever guard sees it. */
const TURNED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'kept from happening': [
    ['How do I set my oven clock back one hour?', 'How do I keep my oven clock from being set back one hour?'],
    ['How do I update my phone?', 'How do I prevent my phone from updating?'],
    ['How do I get my dog to bark?', 'How do I stop my dog from barking?'],
    ['How do I spoil milk?', 'How do I keep milk from spoiling?'],
    ['How do I pay the fee?', 'How do I avoid paying the fee?'],
    ['Why does my phone charge overnight?', 'My phone fails to charge overnight, why?'],
    ['Should I take the pills?', 'Should I stop taking the pills?'],
    ['Should I take the pills?', 'Should I keep taking the pills?'],
  ],
  'instead of': [
    ['What can I use instead of baking powder in a cake?', 'What can I use baking powder instead of in a cake?'],
    ['Can I use oil instead of butter?', 'Can I use butter instead of oil?'],
    ['How do I replace butter with oil?', 'How do I replace oil with butter?'],
    ["Is cow's milk healthier than oat milk?", 'Would oat milk be healthier than milk from cows?'],
  ],
  'how many and how much': [
    ['Give me three ideas for a party', 'Give me three reasons for a party'],
    ['Write two sentences about rain', 'Write two words about rain'],
    ['Can I take a tablet?', 'Can I take half a tablet?'],
    ['What is double 80?', 'What is half of 80?'],
    ['Take it three times a day', 'Take it three times a week'],
    ['Every week', 'Every second week'],
    ['How many minutes does the train take?', 'How many hours does the train take?'],
    ['Are all birds able to fly?', 'Are nearly all birds able to fly?'],
    ['Do I need either document?', 'Do I need both documents?'],
    ['How do I delete everything but photos?', 'How do I delete everything and photos?'],
    ['What is the age to drive?', 'What is the minimum age to drive?'],
    ['Can adults drink it?', 'Can only adults drink it?'],
    ['Is it late to plant tulips?', 'Is it too late to plant tulips?'],
    ['Should I take it?', 'Should I take it again?'],
    ['Is this always true?', 'Is this sometimes true?'],
  ],
  'may and must': [
    ['Do I need a receipt or a warranty card?', 'Do I need a receipt and a warranty card?'],
    ['Which documents must I send?', 'Which documents can I send?'],
    ['May I pay?', 'Do I have to pay?'],
    ['Is it safe to swim in the lake?', 'Is it allowed to swim in the lake?'],
    ['Is it legal to record a call?', 'Is it safe to record a call?'],
  ],
  'when it is': [
    ['Was the flight on time?', 'Will the flight be on time?'],
    [
      "6 pm in New York in July, what's the time in Tokyo?",
      'What time is it in New York when it is 6 pm in Tokyo in July?',
    ],
    ['Do I have to pay tax?', 'Did I have to pay tax?'],
    ['Would I get a refund?', 'Did I get a refund?'],
    ['Can I cancel my booking?', 'Could I have cancelled my booking?'],
    ['How many times can I retake the exam?', 'How many times did I retake the exam?'],
    ['Is my order shipped?', 'Was my order shipped?'],
    ['What time is it in Tokyo when it is 6 pm in New York?', 'What time is it in New York when it is 6 pm in Tokyo?'],
    ['Can I eat before the test?', 'Can I eat after the test?'],
    ['How long has he lived here since 2010?', 'How long did he live here until 2010?'],
    ['What happened on 3 March 1900?', 'What happened on 1 March 1903?'],
  ],
  'which of two things is asked': [
    ['Who discovered insulin?', 'Who discovered insulin and when?'],
    ['When was insulin discovered?', 'Who discovered insulin and when?'],
    ['discoverer of insulin', 'When was insulin discovered?'],
    ['On what date did the wall fall?', 'In which year did the wall fall?'],
    ['What was the date of the fall of the wall?', 'In which street did the wall fall?'],
    ['What is the square of 144?', 'Which number squared gives 144?'],
  ],
  'who does it to whom': [
    ['Laura owes Tim 20 euros. How much is that?', 'If Tim owes Laura 20 euros, how much is that?'],
    ['Write my landlord an email about the heating', 'Write an email from my landlord about the heating'],
    ['Did Napoleon defeat Wellington?', 'Was Napoleon defeated by Wellington?'],
    ['Which city bombed Germany?', 'Which city was bombed by Germany?'],
    ['Who did Brutus kill?', 'Who was Brutus killed by?'],
    ['Who pays?', 'Who is paid?'],
    ['airline cancelled on me, how do I get a refund?', 'How do I get a refund from the airline if I cancelled?'],
    ['Who did I block?', 'Who blocked me?'],
    ['Who do I follow on Instagram?', 'Who follows me on Instagram?'],
    ['Write a poem for my mum', 'Write a poem about my mum'],
    ['Who employs Tom?', 'Who is employed by Tom?'],
    ['Can I read the emails of my employer?', 'Can my employer read my emails?'],
    ['How do I tell my boss I got a raise?', 'How do I ask my boss for a raise?'],
    ['Does the buyer pay the seller?', 'Does the seller pay the buyer?'],
    ['How do I lend money to a friend?', 'How do I borrow money from a friend?'],
    ['How do I pay with a card?', 'How do I pay for a card?'],
  ],
  'in and out, on and off': [
    ['How do I switch data roaming on?', 'How do I switch data roaming off?'],
    ['How do I move in to my flat early?', 'How do I move out of my flat early?'],
    ['How do I check in to my hotel?', 'How do I check out of my hotel?'],
    ['How do I get wine out of the shirt?', 'How do I get wine into the shirt?'],
    ['How do I turn down the heating?', 'How do I turn up the heating?'],
    ['Which costs less, gas or oil?', 'Which costs more, gas or oil?'],
  ],
  'signs and literals': [
    ['Is 3 < 4 in Python?', 'Is 3 > 4 in Python?'],
    ['What is 10 divided by 5?', 'What is 5 divided by 10?'],
    ['What does `yield` do?', 'What does `yield from` do?'],
    ['Convert to YAML: {"a": 1, "b": [2, 3]}', 'Convert to YAML: {"a": 1, "c": [2, 3]}'],
    ['Can a British citizen live in France?', 'Can a French citizen live in Britain?'],
    ['How do I say "cheese" in Spanish?', 'How do I say "cheese" in Spain?'],
    ['Is A better than B for kids?', 'Is B better than A for kids?'],
    ['Is the hepatitis A vaccine safe?', 'Is the hepatitis vaccine safe?'],
    ['What city is Big Ben in?', 'What country is Big Ben in?'],
  ],
};

/** The same question in other words. */
const SERVED: readonly (readonly [string, string])[] = [
  ["What's the capital of France?", "Tell me France's capital city"],
  ['How do I reset my password?', 'I forgot my password, how can I reset it?'],
  ['How do I center a div in CSS?', 'What is the way to center a div using CSS?'],
  ['summarize the plot of hamlet', "give me a summary of hamlet's plot"],
  ["what's the boiling point of water in celsius", 'at what temperature in celsius does water boil?'],
  ['How tall is Mount Everest in meters?', 'What is the height of Mt. Everest in metres?'],
  ['I was charged twice', 'I was charged two times'],
  ['What is 15% of 240?', 'How much is 15 percent of 240?'],
  ['When did World War II end?', 'In what year did World War 2 end?'],
  ['flights from london to paris', 'flights to paris from london'],
  ['Which is bigger, Texas or Alaska?', 'Which one is larger, Alaska or Texas?'],
  ['Do students get a discount?', 'Is there a discount for students?'],
  ['In Excel, how do I freeze the top row?', 'How can I freeze the top row in Excel?'],
  ['List three causes of the war', 'Name 3 causes of the war'],
  ['Translate "good morning" to Spanish', 'Please translate “good morning” into Spanish'],
  ["Which customers haven't paid?", 'Which customers have not paid?'],
  ['How do I turn on dark mode?', 'how can i enable dark mode'],
  ['Can I freeze cooked rice?', 'is it ok to freeze cooked rice'],
  ['What does "chmod 755 run.sh" do?', 'Explain the command `chmod 755 run.sh`'],
  ['What does `git stash` do?', 'what happens when i run git stash'],
  ['How do I turn data roaming on?', 'how to enable data roaming'],
  ['How can I keep my cat from scratching the sofa?', 'how do i stop my cat from scratching the couch?'],
  ['What is the square root of 144?', 'sqrt of 144?'],
  ['What does decline code 51 mean?', 'what does decline code 51 stand for'],
  ['How much water should I drink per day?', 'How much water should I drink each day?'],
  ['When did the old bridge fall?', 'On what date did the old bridge come down?'],
  ['Write a birthday poem for my grandmother', 'I need a birthday poem for my grandma please'],
  ['Give me a pancake recipe with no milk', 'pancake recipe w/o milk'],
  ['What happened on 9 November 1989?', 'what happened on november 9th, 1989'],
  ['How many kilograms is 11 stone?', 'eleven stone is how many kilos'],
  ['What is the minimum wage in France?', 'french minimum wage?'],
  ['What is 144 divided by 12?', '144 ÷ 12'],
  ['How do I politely decline an invitation?', 'how to politely turn down an invitation'],
  ['Is oat milk healthier than cow milk?', 'is oat milk better for your health than cow milk?'],
  ['Summarise the plot of Hamlet in three sentences', "Give me a three-sentence summary of Hamlet's plot"],
  ['Which is healthier, olive oil or coconut oil?', 'Which is healthier, coconut oil or olive oil?'],
  ['Write a birthday poem for my dad who turns 60', 'I need a birthday poem for my dad, he turns 60'],
  ["Why don't metals rust?", 'How come metals do not rust?'],
  ['Translate "I can swim" from English to French', 'How do I say "I can swim" in French?'],
  ['How long does the ferry to Oslo take?', 'How many hours does the ferry to Oslo take?'],
  ['How do I turn off read receipts?', 'where can i turn off read receipts'],
  ['How is a typhoon different from a hurricane?', "What's the difference between a typhoon and a hurricane?"],
  ['How do I conjugate "tener"?', 'conjugation of "tener"'],
];

describe('near-match guards', () => {
  for (const guard of Object.keys(REFUSED) as GuardName[]) {
    test.each(REFUSED[guard].map(([a, b]) => [a, b] as const))(`${guard}: %s / %s`, (a, b) => {
      expect(findRefusal(a, b)).toBe(guard);
    });
  }

  for (const [turn, pairs] of Object.entries(TURNED)) {
    test.each(pairs.map(([a, b]) => [a, b] as const))(`${turn}: %s / %s`, (a, b) => {
      expect(findRefusal(a, b)).toBeDefined();
      expect(findRefusal(b, a)).toBeDefined();
    });
  }

  test.each(SERVED)('same: %s / %s', (a, b) => {
    expect(findRefusal(a, b)).toBeUndefined();
  });

  const everyText = [...Object.values(REFUSED).flat(2), ...Object.values(TURNED).flat(2), ...SERVED.flat()];

  test('a text is never refused for itself, in any case or with another mark at its end', () => {
    for (const text of everyText) {
      expect(findRefusal(text, text)).toBeUndefined();
      expect(findRefusal(text, ` ${text.replace(/[?.]$/, '')} `)).toBeUndefined();
    }
  });

  test('which text came first makes no difference', () => {
    const text = fc.constantFrom(...everyText);
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(findRefusal(a, b) === undefined).toBe(findRefusal(b, a) === undefined);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('any two texts of any characters are compared without failing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.string({ unit: 'binary', maxLength: 200 }),
        (a, b) => {
          const refusal = findRefusal(a, b);
          expect(refusal === undefined || refusal in REFUSED).toBe(true);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('one more word that says something is always refused', () => {
    const extra = fc.constantFrom('tomorrow', '7', 'Berlin', 'never', 'bicycle', '`x`', 'miles', 'without salt');
    fc.assert(
      fc.property(fc.constantFrom(...SERVED.flat()), extra, (text, word) => {
        const longer = `${text.replace(/[?.]$/, '')} ${word}`;
        fc.pre(!text.toLowerCase().includes(word));
        expect(findRefusal(text, longer)).toBeDefined();
      }),
    );
  });

  test('two questions take a fraction of a millisecond', () => {
    const pairs = [...Object.values(TURNED).flat(), ...SERVED];
    const timeMs = ([a, b]: readonly [string, string]) => {
      const startMs = threadMs();
      findRefusal(a, b);
      return threadMs() - startMs;
    };
    const bestMs = pairs
      .map((pair) => Math.min(...Array.from({ length: 5 }, () => timeMs(pair))))
      .sort((x, y) => x - y);
    // 0.15 on an idle core; twice the 0.2 that is allowed, for one whose caches others use.
    expect(bestMs[Math.floor(bestMs.length / 2)] ?? 0).toBeLessThan(0.4);
  });

  test('texts that are as long as can be, and built to be slow, take no time', () => {
    const hostile = [
      '"'.repeat(3000),
      `'${'a '.repeat(1500)}`,
      '`'.repeat(3000),
      'a:'.repeat(1500),
      `${'x'.repeat(1500)}(${'y'.repeat(1490)}`,
      '1,'.repeat(1500),
      'not '.repeat(750),
      'from a to b '.repeat(250),
      'what is the way '.repeat(180),
    ];
    for (const text of hostile) {
      const startMs = threadMs();
      findRefusal(text, `${text.slice(1)}b`);
      expect(threadMs() - startMs).toBeLessThan(150);
    }
  });
});
