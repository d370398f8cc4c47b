package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class EarlyStoppingTest {
    @Test
    void theFirstNumberAfterNanIsBetter() {
        EarlyStopping stopping = EarlyStopping.whenNotLower(3);
        assertFalse(stopping.add(Double.NaN) || stopping.add(2) || stopping.add(1));
        assertEquals(3, stopping.bestIteration());
    }
}
