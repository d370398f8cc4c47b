package ferro.collectives.shared;

import ferro.CollectiveKind;
import ferro.collectives.shared.ProgramProof.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What each collective promises, element by element. */
final class Expected {
    private final Operation operation;
    private final int number;
    private final RankMemory[] memory;
    private final Values values;
    private final int part;

    private Expected(Operation operation, int number, RankMemory[] memory, Values values) {
        this.operation = operation;
        this.number = number;
        this.memory = memory;
        this.values = values;
        this.part = operation.elements() / memory.length;
    }

    static Optional<String> whyNot(List<Operation> operations, List<RankMemory[]> memory, Values values) {
        for (int i = 0; i < operations.size(); i++) {
            String wrong = new Expected(operations.get(i), i, memory.get(i), values).wrong();
            if (wrong != null) {
                return Optional.of("operation " + i + " " + operations.get(i) + ": " + wrong);
            }
        }
        return Optional.empty();
    }

    private String wrong() {
        for (int rank = 0; rank < memory.length; rank++) {
            for (int i = 0; memory[rank].hasResult() && i < results(rank); i++) {
                int found = memory[rank].out(i);
                List<Integer> wanted = wanted(rank, i);
                List<Integer> made = new ArrayList<>();
                if (found >= 0) {
                    values.operands(found, made);
                }
                Collections.sort(made);
                if (!made.equals(wanted)) {
                    return "rank " + rank + " has " + values.text(found) + " as element " + i;
                }
                if (operation.kind().combines() && memory.length > 1 && !values.isComplete(found)) {
                    return "rank " + rank + " has element " + i + " by combines of which none completes it";
                }
                if (operation.kind() == CollectiveKind.ALL_REDUCE && found != memory[0].out(i)) {
                    return "rank " + rank + " has element " + i + " by another expression than rank 0";
                }
            }
            for (int i = 0; memory[rank].keepsOperand() && i < operands(); i++) {
                if (memory[rank].in(i) != values.operand(number, rank, i)) {
                    return "rank " + rank + " has lost element " + i + " of its operand";
                }
            }
        }
        return null;
    }

    private int operands() {
        return operation.kind().in() == CollectiveKind.DataShare.PART ? part : operation.elements();
    }

    private int results(int rank) {
        return switch (operation.kind()) {
            case REDUCE_SCATTER, SCATTER -> part;
            default -> operation.elements();
        };
    }

    private List<Integer> wanted(int rank, int element) {
        List<Integer> wanted = new ArrayList<>();
        switch (operation.kind()) {
            case ALL_REDUCE, REDUCE -> addAll(element, wanted);
            case REDUCE_SCATTER -> addAll(rank * part + element, wanted);
            case BROADCAST -> wanted.add(values.operand(number, operation.root(), element));
            case SCATTER -> wanted.add(values.operand(number, operation.root(), rank * part + element));
            case ALL_TO_ALL -> wanted.add(values.operand(number, element / part, rank * part + element % part));
            default -> wanted.add(values.operand(number, element / part, element % part));
        }
        Collections.sort(wanted);
        return wanted;
    }

    private void addAll(int element, List<Integer> wanted) {
        for (int rank = 0; rank < memory.length; rank++) {
            int operand = values.operand(number, rank, element);
            wanted.add(operation.isMultiplied() ? values.multiplied(operand) : operand);
        }
    }
}
