package ferro.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the rule of docs/contract.md that a test stands for; several tests may share one. */
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
}
