// Two iterators, resumed in turn: bench/Sequence.kt CPU SWITCHES_PER_BATCH BATCHES, pinned from outside.
private var token = 0L

// Each compares the token with the one it is due, as the probe's contexts do.
private fun member(number: Long) = iterator {
    var due = number
    while (true) {
        check(token == due)
        due += 2
        token++
        yield(Unit)
    }
}

private fun pass(all: Array<Iterator<Unit>>, laps: Long) {
    for (lap in 0 until laps) for (one in all) one.next()
}

fun main(words: Array<String>) {
    val (switches, batches) = words.drop(1).map(String::toLong)
    val all = arrayOf(member(0), member(1))
    repeat(100) { pass(all, switches / 2) }
    for (batch in 0 until batches) {
        val begin = System.nanoTime()
        pass(all, switches / 2)
        println((System.nanoTime() - begin).toDouble() / switches)
    }
}
