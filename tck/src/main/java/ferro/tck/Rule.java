package ferro.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The rule of docs/contract.md that a test checks. One test of {@link BackendContract} checks each rule. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Rule {
    /**
     * Returns the number of the rule.
     *
     * @return number in docs/contract.md
     */
    int value();

    /**
     * Returns whether ranks that share only their group can check the rule. Ranks in separate processes share only
     * their group.
     *
     * @return true if {@link RankContract} has the rule
     */
    boolean apart() default false;
}
