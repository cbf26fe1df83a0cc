"""Rules: what evidence proves that a fault held, or is gone. Evidence in, Proof out.

1. Pure: looking, waiting and asking again are verification's.
2. Only positive evidence proves. What was not seen, or has another explanation, is a doubt.
3. Silence is not closure: a canary or an attempt is silent only if it waited SILENCE_S in vain.
   A refusal, a reset or a close comes at once, and is evidence of another fault than ours.

`replies`    what silence is, and how replies are told in a doubt
`processes`  kill, stop, freeze
`links`      what happens to clients' links
`network`    packets between hosts
`peers`      slow links between hosts
"""
