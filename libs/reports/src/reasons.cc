// What a missing figure's reason means.
#include <array>

#include "tidewatt/reports/text.h"

namespace tidewatt::reports {
namespace {

struct Meaning {
  std::string_view code, en, zh;
};

constexpr std::array<Meaning, 24> kMeanings{{
    {"no_factor_configured", "no emission factor is configured", "未配置排放因子"},
    {"factor_kind_not_average", "the factor in force is no average of a grid", "现行因子不是电网平均值"},
    {"no_factor_of_the_year", "a zone has factors of other years, none of this one",
     "某区域仅有其他年份的因子"},
    {"factors_differ", "the zones' factors differ in gas or kind and can't be added",
     "各区域因子的气体或类型不同，不可相加"},
    {"marginal_series", "the zone's series is marginal: it serves decisions, not inventories",
     "该区域序列为边际值，仅用于决策"},
    {"series_differ", "the zones' series differ in kind, boundary or basis and can't be added",
     "各区域序列的类型、边界或口径不同，不可相加"},
    {"no_signal", "no zone of the energy has an hourly series", "能耗所在区域均无逐时序列"},
    {"no_covered_hour", "no hour with energy has a known intensity", "有能耗的小时均无已知碳强度"},
    {"boundary_not_direct", "its boundary isn't stated as direct or CO2 only, so it can't enter Scope 2",
     "其边界未说明为直接排放或仅 CO₂，不可计入范围二"},
    {"no_residual_mix", "contracts don't cover all, and no residual mix is stated",
     "合同未覆盖全部电量，且未说明剩余组合因子"},
    {"no_upstream_factor", "no upstream factor is stated", "未说明上游因子"},
    {"no_grid_loss", "no grid loss is stated", "未说明线损"},
    {"no_pue", "no PUE is stated", "未说明 PUE"},
    {"no_embodied_factor", "no embodied carbon of devices is stated", "未说明设备隐含碳"},
    {"shared_devices", "devices were shared: whose part of their making it is isn't known",
     "设备由多个任务共享，其制造排放归谁未知"},
    {"no_device_time", "no accelerator was held", "未占用加速卡"},
    {"no_usage_reported", "no tokens or requests were reported", "未上报 token 或请求数"},
    {"no_tariff", "no tariff is configured", "未配置电价"},
    {"price_unknown", "the tariff has no price for an hour with energy", "有能耗的某小时无电价"},
    {"no_demand_charge", "no demand charge is configured", "未配置需量电费"},
    {"demand_of_the_site_only", "a demand charge is of the whole site", "需量电费属于整个站点"},
    {"contracts_of_the_site", "contracts are of the whole site", "合同属于整个站点"},
    {"no_cfe_series", "no series of the grid's clean share, and contracts don't cover the load",
     "无电网清洁占比序列，且合同未覆盖全部负荷"},
    {"no_load", "there was no load", "无负荷"},
}};

}  // namespace

std::string_view text_of(std::string_view reason, Language language) {
  for (const auto& meaning : kMeanings)
    if (meaning.code == reason) return language == Language::zh ? meaning.zh : meaning.en;
  return reason;
}

}  // namespace tidewatt::reports
