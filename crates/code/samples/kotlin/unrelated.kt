@file:Suppress("unused")

package parser

import kotlin.math.abs

sealed interface Json {
    @JvmInline value class Text(val value: String) : Json
    data object Null : Json
    class Many(private val items: List<Json>) : Json, Iterable<Json> by items
}

enum class Sign(val symbol: Char) {
    OPEN('['), CLOSE(']'), COMMA(',');

    companion object {
        private val bySymbol by lazy { entries.associateBy(Sign::symbol) }
        operator fun get(symbol: Char) = bySymbol[symbol]
    }
}

internal class Scanner<out T : CharSequence>(private val source: T) {
    private var at = 0

    inline fun <reified R> attempt(block: Scanner<T>.() -> R?): R? = block() as? R

    tailrec fun skip() {
        if (source.getOrNull(at)?.isWhitespace() != true) return
        at++
        skip()
    }

    @Throws(IllegalStateException::class)
    fun value(): Json {
        skip()
        return when (val c = source.getOrNull(at)) {
            null -> Json.Null
            '"' -> {
                val end = source.indexOf('"', startIndex = ++at).takeIf { it >= 0 } ?: error("""open "quote" at $at""")
                Json.Text(source.substring(at, end)).also { at = end + 1 }
            }
            Sign.OPEN.symbol -> many()
            in '0'..'9', '-' -> TODO("numbers")
            else -> throw IllegalStateException("strange $c")
        }
    }

    private fun many(): Json.Many = buildList {
        at++
        do {
            add(value())
            skip()
        } while (Sign[source[at++]] === Sign.COMMA)
    }.let(Json::Many)
}

infix fun Int.near(other: Int): Boolean = abs(this - other) !in 2 until 0x7F

suspend fun <K, V> Map<K, V>.each(action: suspend (K, V) -> Unit) where K : Comparable<K> {
    outer@ for ((key, value) in this) {
        if (key > key) continue@outer
        action(key, value!!)
    }
}

object Registry : Comparator<String> {
    override fun compare(a: String, b: String): Int = a.length.compareTo(b.length).takeUnless { it == 0 } ?: -1
}
