package ferro.tck;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.tck.cells.Bits;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongBinaryOperator;
import java.util.function.UnaryOperator;

/** Back ends whose collectives are wrong in one thing each; {@link WrongBackEndsTest} says which rule catches which. */
final class WrongResults {
    private WrongResults() {}

    /** The kit over decorated queues. */
    abstract static class Decorated extends BackendContract {
        private final UnaryOperator<CollectiveBackend> decorate;

        Decorated(UnaryOperator<CollectiveBackend> decorate) {
            this.decorate = decorate;
        }

        @Override
        protected List<CollectiveBackend> createGroup(int worldSize) {
            return Decorator.group(worldSize, decorate);
        }

        @Override
        protected Set<String> declaredRefusals() {
            return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
        }
    }

    /** Runs another call than the one asked for. */
    static final class Replacing extends Decorator {
        private final UnaryOperator<Collective> replace;

        Replacing(CollectiveBackend honest, UnaryOperator<Collective> replace) {
            super(honest);
            this.replace = replace;
        }

        @Override
        public Work submit(Collective call, CallOptions options) {
            return super.submit(replace.apply(call), options);
        }
    }

    static final class TakesTheLargestForTheSum extends Decorated {
        TakesTheLargestForTheSum() {
            super(honest -> new Replacing(honest, call -> withOp(call, ReduceOp.SUM, ReduceOp.MAX)));
        }
    }

    static final class ForgetsToDivide extends Decorated {
        ForgetsToDivide() {
            super(honest -> new Replacing(honest, call -> withOp(call, ReduceOp.AVG, ReduceOp.SUM)));
        }
    }

    /** As a vendor's library that sums in the type itself. */
    static final class AveragesASumThatWraps extends Decorated {
        AveragesASumThatWraps() {
            super(honest -> new Averaging(honest, (sum, size) -> (int) sum / size));
        }
    }

    static final class RoundsAveragesDown extends Decorated {
        RoundsAveragesDown() {
            super(honest -> new Averaging(honest, Math::floorDiv));
        }
    }

    /** Averages i32 by a division of its own. */
    private static final class Averaging extends Decorator {
        private final LongBinaryOperator divide;

        Averaging(CollectiveBackend honest, LongBinaryOperator divide) {
            super(honest);
            this.divide = divide;
        }

        @Override
        public Work submit(Collective call, CallOptions options) {
            boolean isAveraged = call.kind() == CollectiveKind.ALL_REDUCE
                    && call.op() == ReduceOp.AVG
                    && call.in().dataType() == DataType.INT32;
            if (!isAveraged) {
                return super.submit(call, options);
            }
            HostTensor in = (HostTensor) call.in();
            HostTensor out = (HostTensor) call.out();
            long[] sums = Bits.of(in);
            super.submit(Collective.allReduce(HostTensor.of(sums), HostTensor.of(sums), ReduceOp.SUM), options)
                    .await();
            Bits.fill(out, index -> divide.applyAsLong(sums[index], worldSize()));
            return Handle.done();
        }
    }

    /** As NCCL does: right to the last bit only where the world size is a power of two. */
    static final class MultipliesByTheFraction extends Decorated {
        MultipliesByTheFraction() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.op() == ReduceOp.AVG && call.operand().dataType() == DataType.FLOAT32
                            ? withOp(call, ReduceOp.AVG, ReduceOp.preMultipliedSum(1.0 / honest.worldSize()))
                            : call));
        }
    }

    static final class MultipliesTheSum extends Decorated {
        MultipliesTheSum() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    boolean isScaled = call.kind() == CollectiveKind.ALL_REDUCE
                            && call.op().factor() != 1
                            && call.operand().dataType() == DataType.FLOAT32;
                    if (!isScaled) {
                        return super.submit(call, options);
                    }
                    super.submit(Collective.allReduce(call.in(), call.out(), ReduceOp.SUM), options)
                            .await();
                    HostTensor out = (HostTensor) call.out();
                    long[] sums = Bits.of(out);
                    float factor = (float) call.op().factor();
                    Bits.fill(out, index -> Float.floatToRawIntBits(Float.intBitsToFloat((int) sums[index]) * factor));
                    return Handle.done();
                }
            });
        }
    }

    static final class DropsTheLastElement extends Decorated {
        DropsTheLastElement() {
            super(honest -> new Replacing(honest, DropsTheLastElement::shorter));
        }

        private static Collective shorter(Collective call) {
            boolean some =
                    call.kind() == CollectiveKind.BROADCAST && call.operand().elementCount() > 0;
            return some ? Collective.broadcast(allButLast(call.operand()), call.root()) : call;
        }
    }

    static final class SkipsUnequalParts extends Decorated {
        SkipsUnequalParts() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return call.hasCounts() ? Handle.done() : super.submit(call, options);
                }
            });
        }
    }

    static final class SkipsSubmittedUnequalParts extends Decorated {
        SkipsSubmittedUnequalParts() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return call.hasCounts() ? Handle.done() : super.submit(call, options);
                }

                @Override
                public void run(Collective call, CallOptions options) {
                    super.submit(call, options).await();
                }
            });
        }
    }

    static final class WritesWhereItIsNotTheRoot extends Decorated {
        WritesWhereItIsNotTheRoot() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.REDUCE
                            ? Collective.allReduce(call.in(), call.out(), call.op())
                            : call));
        }
    }

    static final class ScansTheRanksAfterItToo extends Decorated {
        ScansTheRanksAfterItToo() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.SCAN
                            ? Collective.allReduce(call.in(), call.out(), call.op())
                            : call));
        }
    }

    /** Leaves the result of an exclusive scan on rank 0 as it was. */
    static final class LeavesRankZeroOut extends Decorated {
        LeavesRankZeroOut() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.EXCLUSIVE_SCAN && honest.rank() == 0
                            ? call.on(
                                    call.in(),
                                    HostTensor.allocate(
                                            call.in().dataType(), call.in().elementCount()))
                            : call));
        }
    }

    static final class ScansAUsersCodeAsMaximum extends Decorated {
        ScansAUsersCodeAsMaximum() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.SCAN && call.op().combiner() != null
                            ? Collective.scan(call.in(), call.out(), ReduceOp.MAX)
                            : call));
        }
    }

    static final class TakesAnOrderedOpForAnyOther extends Decorated {
        TakesAnOrderedOpForAnyOther() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.ALL_REDUCE
                                    && call.op().isOrdered()
                            ? Collective.allReduce(call.in(), call.out(), inAnyOrder(call.op()))
                            : call));
        }

        private static ReduceOp inAnyOrder(ReduceOp op) {
            return ReduceOp.ofBytes(op.name(), op.recordElements(), op.recordCombine());
        }
    }

    static final class SkipsTheBarrier extends Decorated {
        SkipsTheBarrier() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return call.kind() == CollectiveKind.BARRIER ? Handle.done() : super.submit(call, options);
                }
            });
        }
    }

    static final class ReturnsBeforeTheDataArrives extends Decorated {
        ReturnsBeforeTheDataArrives() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    super.submit(call, options);
                    return Handle.done();
                }
            });
        }
    }

    static final class WritesPastTheEnd extends Decorated {
        WritesPastTheEnd() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    Work work = super.submit(call, options);
                    if (call.operand() instanceof HostTensor data && data.memory() instanceof int[] ints) {
                        int end = (int) (data.offset() + data.elementCount());
                        if (end < ints.length) {
                            ints[end] = 0;
                        }
                    }
                    return work;
                }
            });
        }
    }

    static final class RoundsDifferentlyOnOneRank extends Decorated {
        RoundsDifferentlyOnOneRank() {
            super(honest -> new Decorator(honest) {
                @Override
                public void run(Collective call, CallOptions options) {
                    super.run(call, options);
                    boolean floats = call.operand() instanceof HostTensor data
                            && data.memory() instanceof float[]
                            && data.elementCount() > 0;
                    if (floats && rank() == 1) {
                        HostTensor data = (HostTensor) call.operand();
                        float[] array = (float[]) data.memory();
                        array[(int) data.offset()] = Math.nextUp(array[(int) data.offset()]);
                    }
                }
            });
        }
    }

    static final class ReducesAndScattersInAnotherOrder extends Decorated {
        ReducesAndScattersInAnotherOrder() {
            super(honest -> new Decorator(honest) {
                @Override
                public void run(Collective call, CallOptions options) {
                    super.run(call, options);
                    if (call.kind() == CollectiveKind.REDUCE_SCATTER
                            && call.out().elementCount() > 1) {
                        float[] part = (float[]) ((HostTensor) call.out()).memory();
                        part[1] = Math.nextUp(part[1]);
                    }
                }
            });
        }
    }

    static final class RefusesWhatItDoesNotDeclare extends Decorated {
        RefusesWhatItDoesNotDeclare() {
            super(honest -> new Decorator(honest) {
                @Override
                public Optional<String> unsupportedBecause(Collective call) {
                    boolean refuses = call.operand() != null && call.operand().dataType() == DataType.INT16;
                    return refuses ? Optional.of("no kernel for i16") : super.unsupportedBecause(call);
                }

                @Override
                public Work submit(Collective call, CallOptions options) {
                    if (unsupportedBecause(call).isPresent()) {
                        throw new UnsupportedOperationException(
                                unsupportedBecause(call).get());
                    }
                    return super.submit(call, options);
                }
            });
        }
    }

    static final class TakesAnyRootForTheFirstRank extends Decorated {
        TakesAnyRootForTheFirstRank() {
            super(honest -> new Replacing(
                    honest,
                    call -> call.kind() == CollectiveKind.BROADCAST && call.root() >= honest.worldSize()
                            ? Collective.broadcast(call.in(), 0)
                            : call));
        }
    }

    static final class TakesAUsersCodeForTheSum extends Decorated {
        TakesAUsersCodeForTheSum() {
            super(honest -> new Replacing(
                    honest, call -> withSum(call, call.op() != null && call.op().span() != null)));
        }
    }

    static final class TakesAUsersCodeForAnyType extends Decorated {
        TakesAUsersCodeForAnyType() {
            super(honest -> new Replacing(honest, call -> withSum(call, isOfAnotherType(call))));
        }

        private static boolean isOfAnotherType(Collective call) {
            return call.op() != null
                    && call.op().unsupportedBecause(call.operand().dataType()).isPresent();
        }
    }

    static final class TakesRecordsForBytes extends Decorated {
        TakesRecordsForBytes() {
            super(honest -> new Replacing(honest, call -> withSum(call, isOfRecords(call))));
        }

        static boolean isOfRecords(Collective call) {
            return call.op() != null && call.op().recordElements() > 1;
        }
    }

    /** Calls nothing where the operand ends inside a record. */
    static final class DropsPartsOfRecords extends Decorated {
        DropsPartsOfRecords() {
            super(honest -> new Replacing(
                    honest,
                    call -> TakesRecordsForBytes.isOfRecords(call)
                                    && call.in().elementCount() % call.op().recordElements() != 0
                            ? Collective.barrier()
                            : call));
        }
    }

    /** Checks that only its own part has whole records. */
    static final class ForgetsThePartsOfOthers extends Decorated {
        ForgetsThePartsOfOthers() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return isOfRecords(call, call.inCounts()) ? Handle.done() : super.submit(call, options);
                }
            });
        }

        private static boolean isOfRecords(Collective call, long... counts) {
            return counts.length > 0
                    && TakesRecordsForBytes.isOfRecords(call)
                    && call.out().elementCount() % call.op().recordElements() == 0
                    && Arrays.stream(counts).anyMatch(count -> count % call.op().recordElements() != 0);
        }
    }

    private static Collective withSum(Collective call, boolean replaced) {
        return replaced && call.kind() == CollectiveKind.ALL_REDUCE
                ? Collective.allReduce(call.in(), call.out(), ReduceOp.SUM)
                : call;
    }

    private static Collective withOp(Collective call, ReduceOp asked, ReduceOp taken) {
        return call.op() == asked && call.kind() == CollectiveKind.ALL_REDUCE
                ? Collective.allReduce(call.in(), call.out(), taken)
                : call;
    }

    private static HostTensor allButLast(Tensor tensor) {
        return ((HostTensor) tensor).slice(0, tensor.elementCount() - 1);
    }
}
