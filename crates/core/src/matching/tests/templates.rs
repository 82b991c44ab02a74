//! Templates: exactly the tokens in template k-grams have no weight.

use super::*;
use crate::testing::fixed;
use oracle::in_template;

proptest! {
    #![proptest_config(fixed(400))]

    #[test]
    fn tokens_in_a_kgram_of_the_template_and_no_others_are_marked((a, b) in akin(), (c, d) in akin()) {
        let templates = [b, c];
        let cohort = cohort(vec![a.clone(), d], &templates, ALL);
        for (entry, weighed) in cohort.entries().iter().zip(cohort.weighed()) {
            let expected = in_template(entry, &templates);
            prop_assert_eq!(&weighed.template, &expected);
            for part in &entry.parts {
                let here = part.start as usize..part.end as usize;
                let is_nobodys: Vec<bool> = weighed.tokens[here.clone()].iter().map(|weight| *weight == 0).collect();
                prop_assert_eq!(&is_nobodys, &expected[here]);
            }
        }
    }

    #[test]
    fn without_template_everything_is_own((a, b) in akin()) {
        let own: usize = a.parts.iter().map(|part| (part.end - part.start) as usize).sum();
        let cohort = cohort(vec![a, b], &[], ALL);
        prop_assert_eq!(cohort.weighed()[0].own(), own);
    }
}

#[test]
fn passages_are_clipped_at_the_template() {
    let (k, t) = (5, 10);
    let (handed_out, copied) = (fresh(1, 30), fresh(2, 25));
    let a = [&fresh(3, 12)[..], &handed_out, &copied, &fresh(4, 9)].concat();
    let b = [&fresh(5, 22)[..], &handed_out, &copied, &fresh(6, 9)].concat();
    let template = entry(9, &handed_out, k, t);
    let outcome = run(&cohort(vec![entry(0, &a, k, t), entry(1, &b, k, t)], &[template], ALL));
    let places: Vec<_> = outcome.pairs[0].passages.iter().map(|passage| (passage.start, passage.end)).collect();
    assert_eq!(places, [([42, 52], [67, 77])]);
}
