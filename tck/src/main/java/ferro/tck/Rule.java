package ferro.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the rule of docs/contract.md that a test checks; several tests may check one rule. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Rule {
    /**
     * Returns the number of the rule.
     *
     * @return as in docs/contract.md
     */
    int value();

    /**
     * Returns whether ranks in processes of their own can check it, because they share nothing but their group.
     *
     * @return true if {@link RankContract} has the rule
     */
    boolean apart() default false;
}
