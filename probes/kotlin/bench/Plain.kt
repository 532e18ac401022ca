// Two contexts of the probe, resumed in turn: Plain KIND CPU SWITCHES_PER_BATCH BATCHES, pinned from outside.
import java.util.function.LongUnaryOperator
import switchcost.kotlin.END
import switchcost.kotlin.Rendezvous
import switchcost.kotlin.Sequence
import switchcost.kotlin.Yielding

// Compares the token with the one it is due, as the probe's contexts do.
private class Turn(private var due: Long) : LongUnaryOperator {
    override fun applyAsLong(token: Long): Long {
        if (token != due) return other(token)
        due += 2
        return token + 1
    }

    private fun other(token: Long): Long {
        check(token == END) { "token $token came where $due was due" }
        return token
    }
}

private fun pass(all: Array<LongUnaryOperator>, laps: Long, first: Long): Long {
    var token = first
    for (lap in 0 until laps) for (one in all) token = one.applyAsLong(token)
    return token
}

fun main(words: Array<String>) {
    val make: (LongUnaryOperator) -> LongUnaryOperator = when (words[0]) {
        "sequence" -> ::Sequence
        "channel" -> ::Rendezvous
        else -> ::Yielding
    }
    val (switches, batches) = words.drop(2).map(String::toLong)
    fun pair() = arrayOf(make(Turn(0)), make(Turn(1)))
    // Contexts that begin and end, as those of a program do. Without them HotSpot compiles a loop that can do neither,
    // and a switch of a sequence takes a quarter less.
    repeat(6000) {
        val few = pair()
        pass(few, 2, 0)
        few.forEach { it.applyAsLong(END) }
    }
    val all = pair()
    var token = 0L
    repeat(100) { token = pass(all, switches / 2, token) }
    for (batch in 0 until batches) {
        val begin = System.nanoTime()
        token = pass(all, switches / 2, token)
        println((System.nanoTime() - begin).toDouble() / switches)
    }
}
