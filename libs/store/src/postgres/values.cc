// PostgreSQL's binary forms: what goes into parameters and comes back in rows.
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "connection.h"
#include "tidewatt/units/text.h"

namespace tidewatt::store::pg {
namespace {

constexpr Oid kBytea = 17, kInt8 = 20, kText = 25, kNumeric = 1700;
constexpr Oid kByteaArray = 1001, kTextArray = 1009, kInt8Array = 1016, kNumericArray = 1231;
constexpr int kNumericBase = 10'000;
constexpr std::uint16_t kNegative = 0x4000;

template <class Int>
void put(std::string& out, Int value) {
  using Unsigned = std::make_unsigned_t<Int>;
  for (int shift = (static_cast<int>(sizeof(Int)) - 1) * 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(static_cast<Unsigned>(value) >> static_cast<unsigned>(shift)));
}

template <class Int>
Int get(const char* at) {
  using Unsigned = std::make_unsigned_t<Int>;
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    value = static_cast<Unsigned>((value << 8U) | static_cast<unsigned char>(at[i]));
  return static_cast<Int>(value);
}

std::string numeric(WideMicrojoules value) {
  std::array<std::int16_t, 12> digits{};  // of base 10,000, the lowest first; 2^127 has ten
  std::size_t count = 0;
  const bool negative = value.raw() < 0;
  for (auto rest = value.raw(); rest != 0; rest /= kNumericBase) {
    const auto digit = static_cast<int>(rest % kNumericBase);
    digits.at(count++) = static_cast<std::int16_t>(negative ? -digit : digit);
  }
  std::string out;
  put(out, static_cast<std::int16_t>(count));
  put(out, static_cast<std::int16_t>(count == 0 ? 0 : count - 1));
  put(out, negative ? kNegative : std::uint16_t{0});
  put(out, std::int16_t{0});
  while (count > 0) put(out, digits.at(--count));
  return out;
}

WideMicrojoules wide_of(std::string_view bytes) {
  if (bytes.size() < 8) return {};
  const auto count = get<std::int16_t>(bytes.data());
  const auto weight = get<std::int16_t>(bytes.data() + 2);
  const bool negative = get<std::uint16_t>(bytes.data() + 4) == kNegative;
  WideMicrojoules::Int n = 0;
  // Trailing zero digits aren't sent: `weight` says how many there are in all.
  for (int i = 0; i <= weight; ++i) {
    const auto at = 8 + static_cast<std::size_t>(i) * 2;
    n = n * kNumericBase + (i < count && at + 2 <= bytes.size() ? get<std::int16_t>(bytes.data() + at) : 0);
  }
  return WideMicrojoules::from_raw(negative ? -n : n);
}

Oid element_of(Array::Of of) {
  switch (of) {
    case Array::Of::integers:
      return kInt8;
    case Array::Of::texts:
      return kText;
    case Array::Of::blobs:
      return kBytea;
    case Array::Of::numbers:
      return kNumeric;
  }
  return kText;
}

Oid array_of(Array::Of of) {
  switch (of) {
    case Array::Of::integers:
      return kInt8Array;
    case Array::Of::texts:
      return kTextArray;
    case Array::Of::blobs:
      return kByteaArray;
    case Array::Of::numbers:
      return kNumericArray;
  }
  return kTextArray;
}

constexpr std::size_t kArrayHeader = 20;

std::string_view cell(const PGresult* result, int row, int column) {
  return {PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column))};
}

}  // namespace

Array::Array(Of of) : of_(of), bytes_(kArrayHeader, '\0') {}

Array& Array::add(std::int64_t value) {
  ++count_;
  put(bytes_, std::int32_t{8});
  put(bytes_, value);
  return *this;
}
Array& Array::add(std::optional<std::int64_t> value) {
  if (value) return add(*value);
  null();
  return *this;
}
void Array::null() {
  ++count_;
  has_null_ = true;
  put(bytes_, std::int32_t{-1});
}
Array& Array::add(std::string_view text) {
  ++count_;
  put(bytes_, static_cast<std::int32_t>(text.size()));
  bytes_.append(text);
  return *this;
}
Array& Array::add(WideMicrojoules value) { return add(std::string_view(numeric(value))); }

std::string Array::take() {
  std::string header;
  put(header, std::int32_t{count_ == 0 ? 0 : 1});
  put(header, std::int32_t{has_null_ ? 1 : 0});
  put(header, element_of(of_));
  if (count_ == 0) return header;
  put(header, static_cast<std::int32_t>(count_));
  put(header, std::int32_t{1});
  bytes_.replace(0, kArrayHeader, header);
  return std::move(bytes_);
}

Params& Params::add(std::int64_t value) {
  auto& place = values_.emplace_back(Value{kInt8, false, {}});
  put(place.own, value);
  return *this;
}
Params& Params::add(std::optional<std::int64_t> value) {
  if (value) return add(*value);
  values_.push_back({kInt8, true, {}});
  return *this;
}
Params& Params::text(std::string_view text) {
  values_.push_back({kText, false, std::string(text)});
  return *this;
}
Params& Params::blob(std::string_view bytes) {
  values_.push_back({kBytea, false, {}, bytes});
  return *this;
}
Params& Params::add(Array&& array) {
  const auto type = array_of(array.of());
  values_.push_back({type, false, array.take()});
  return *this;
}

void Rows::Closer::operator()(pg_result* result) const { PQclear(result); }
int Rows::size() const { return result_ ? PQntuples(result_.get()) : 0; }
std::int64_t Rows::touched() const {
  return result_ ? parse_int64(PQcmdTuples(result_.get())).value_or(0) : 0;
}
bool Rows::null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
std::int64_t Rows::integer(int row, int column) const {
  const auto bytes = cell(result_.get(), row, column);
  return bytes.size() == 8 ? get<std::int64_t>(bytes.data()) : 0;
}
std::optional<std::int64_t> Rows::maybe_integer(int row, int column) const {
  return null(row, column) ? std::nullopt : std::optional(integer(row, column));
}
std::optional<UtcTime> Rows::time(int row, int column) const {
  const auto ms = maybe_integer(row, column);
  return ms ? std::optional(UtcTime{Milliseconds{*ms}}) : std::nullopt;
}
std::string_view Rows::text(int row, int column) const { return cell(result_.get(), row, column); }
WideMicrojoules Rows::wide(int row, int column) const { return wide_of(cell(result_.get(), row, column)); }

std::vector<std::int64_t> Rows::integers(int row, int column) const {
  const auto bytes = cell(result_.get(), row, column);
  std::vector<std::int64_t> values;
  for (std::size_t at = kArrayHeader; at + 12 <= bytes.size(); at += 12)
    values.push_back(get<std::int64_t>(bytes.data() + at + 4));
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace tidewatt::store::pg
