// Two iterators, resumed in turn: bench/Sequence.kt CPU SWITCHES_PER_BATCH BATCHES, pinned from outside.
import java.util.function.LongUnaryOperator

// Compares the token with the one it is due, as the probe's contexts do.
private class Turn(private var due: Long) : LongUnaryOperator {
    override fun applyAsLong(token: Long): Long {
        check(token == due)
        due += 2
        return token + 1
    }
}

// The calls through interfaces are what coroutine/kotlin-sequence says that a unit includes.
private class Context(turn: LongUnaryOperator) : LongUnaryOperator {
    private var token = 0L
    private val steps = iterator {
        while (true) {
            token = turn.applyAsLong(token)
            yield(Unit)
        }
    }

    override fun applyAsLong(given: Long): Long {
        token = given
        steps.next()
        return token
    }
}

private fun pass(all: Array<LongUnaryOperator>, laps: Long, first: Long): Long {
    var token = first
    for (lap in 0 until laps) for (one in all) token = one.applyAsLong(token)
    return token
}

fun main(words: Array<String>) {
    val (switches, batches) = words.drop(1).map(String::toLong)
    val all = arrayOf<LongUnaryOperator>(Context(Turn(0)), Context(Turn(1)))
    var token = 0L
    repeat(100) { token = pass(all, switches / 2, token) }
    for (batch in 0 until batches) {
        val begin = System.nanoTime()
        token = pass(all, switches / 2, token)
        println((System.nanoTime() - begin).toDouble() / switches)
    }
}
