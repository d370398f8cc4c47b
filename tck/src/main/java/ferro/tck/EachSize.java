package ferro.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test that runs once for each world size of the contract: 1 to 5, 7 and 8, with odd sizes and powers of two. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "{0} ranks")
@ValueSource(ints = {1, 2, 3, 4, 5, 7, 8})
public @interface EachSize {}
