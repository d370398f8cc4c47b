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
    /** {@return the number of the rule in docs/contract.md} */
    int value();

    /**
     * {@return whether ranks that share only their group, as ranks in separate processes do, can check the rule; then
     * {@link RankContract} has it}
     */
    boolean apart() default false;
}
